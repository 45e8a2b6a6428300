// MaxPooling1D and AveragePooling1D over series of steps x features: those of images of height 1.
#pragma once

#include "model/layers/pooling_2d/pooling_2d.h"

namespace hopper {
namespace layers {

struct Pooling1D : Pooling2D {
  Pooling1D(LayerConfig& config, bool is_maximum) : Pooling2D(config, is_maximum, /*axes=*/1) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
};
std::unique_ptr<Operator> MakeOperator(const Pooling1D& layer);
std::unique_ptr<PlannedOp> Plan(const Pooling1D& layer, PlanNode* node);
ops::Value Export(const Pooling1D& layer, const ExportCall& call);

struct AveragePooling1D : Pooling1D {
  static constexpr const char* kName = "AveragePooling1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "average over windows of a series";
  explicit AveragePooling1D(LayerConfig& config) : Pooling1D(config, /*is_maximum=*/false) {}
};
struct MaxPooling1D : Pooling1D {
  static constexpr const char* kName = "MaxPooling1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "maximum over windows of a series";
  explicit MaxPooling1D(LayerConfig& config) : Pooling1D(config, /*is_maximum=*/true) {}
};

}  // namespace layers
}  // namespace hopper
