// keras.ops.where(condition, x, y): of two tensors by a third.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

// Inputs: the condition, which is so where it is not 0, and the two. Broadcast like operands.
struct Where : Layer {
  static constexpr const char* kName = "Where";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "values of one input or another";
  static constexpr const char* kSince = kOperationOnly;

  explicit Where(LayerConfig& config) : Layer(config) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const Where& layer);
ops::Value Export(const Where& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
