// GlobalAveragePooling1D and GlobalMaxPooling1D over series of steps x features. Over the features
// of each step, as Keras' own example of a transformer for series has it, they are operations.
#pragma once

#include "model/layers/global_pooling_2d/global_pooling_2d.h"

namespace hopper {
namespace layers {

struct GlobalPooling1D : GlobalPooling2D {
  using GlobalPooling2D::GlobalPooling2D;
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
};
std::unique_ptr<Operator> MakeOperator(const GlobalPooling1D& layer);
std::unique_ptr<PlannedOp> Plan(const GlobalPooling1D& layer, PlanNode* node);
ops::Value Export(const GlobalPooling1D& layer, const ExportCall& call);

struct GlobalAveragePooling1D : GlobalPooling1D {
  static constexpr const char* kName = "GlobalAveragePooling1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "average over a whole series, or its unmasked steps";
  static constexpr const char* kOverFeatures = "Mean";
  explicit GlobalAveragePooling1D(LayerConfig& config)
      : GlobalPooling1D(config, /*maximum=*/false) {}
  Masking masking() const override { return Masking::kEnds; }
  bool reads_masks() const override { return true; }
};
struct GlobalMaxPooling1D : GlobalPooling1D {
  static constexpr const char* kName = "GlobalMaxPooling1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "maximum over a whole series";
  static constexpr const char* kOverFeatures = "Max";
  explicit GlobalMaxPooling1D(LayerConfig& config) : GlobalPooling1D(config, /*maximum=*/true) {}
};

}  // namespace layers
}  // namespace hopper
