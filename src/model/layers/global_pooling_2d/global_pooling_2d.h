// GlobalAveragePooling2D and GlobalMaxPooling2D over images of height x width x channels.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct GlobalPooling2D : Layer {
  GlobalPooling2D(LayerConfig& config, bool maximum);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;

  bool maximum;
  bool keepdims;
};
std::unique_ptr<Operator> MakeOperator(const GlobalPooling2D& layer);
std::unique_ptr<PlannedOp> Plan(const GlobalPooling2D& layer, PlanNode* node);
ops::Value Export(const GlobalPooling2D& layer, const ExportCall& call);

struct GlobalAveragePooling2D : GlobalPooling2D {
  static constexpr const char* kName = "GlobalAveragePooling2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "average over a whole image";
  explicit GlobalAveragePooling2D(LayerConfig& config)
      : GlobalPooling2D(config, /*maximum=*/false) {}
};
struct GlobalMaxPooling2D : GlobalPooling2D {
  static constexpr const char* kName = "GlobalMaxPooling2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "maximum over a whole image";
  explicit GlobalMaxPooling2D(LayerConfig& config) : GlobalPooling2D(config, /*maximum=*/true) {}
};

}  // namespace layers
}  // namespace hopper
