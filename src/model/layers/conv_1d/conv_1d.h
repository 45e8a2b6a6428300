// Conv1D over series of steps x features: Conv2D over images of height 1.
#pragma once

#include "model/layers/conv_2d/conv_2d.h"

namespace hopper {
namespace layers {

struct Conv1D : Conv2D {
  static constexpr const char* kName = "Conv1D";
  static std::vector<std::string> FormerNames() { return {"Convolution1D"}; }
  static constexpr const char* kWeights = "kernel, bias";
  static constexpr const char* kDescription = "convolution over series";

  explicit Conv1D(LayerConfig& config) : Conv2D(config, /*axes=*/1) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const Conv1D& layer);
std::unique_ptr<PlannedOp> Plan(const Conv1D& layer, PlanNode* node);
ops::Value Export(const Conv1D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
