// keras.ops.stack(): inputs of one shape side by side along a new axis.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Stack : Layer {
  static constexpr const char* kName = "Stack";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "inputs along a new axis";
  static constexpr const char* kSince = kOperationOnly;

  explicit Stack(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  // The new axis of the output where inputs have so many, the batch as 0. Throws where it would
  // stand before the batch, or behind nothing.
  int64_t AxisOf(const Shape& input) const;

  int64_t axis;  // as in Keras
};
std::unique_ptr<Operator> MakeOperator(const Stack& layer);
ops::Value Export(const Stack& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
