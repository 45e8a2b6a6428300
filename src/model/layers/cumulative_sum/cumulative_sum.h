// keras.ops.cumsum(): sums of all values up to each one along an axis, such as steps.
#pragma once

#include "model/layers/inputs.h"
#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct CumulativeSum : SameShape {
  static constexpr const char* kName = "Cumsum";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "sums up to each value along an axis";
  static constexpr const char* kSince = kOperationOnly;

  explicit CumulativeSum(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  // With the batch as 0; of an example's shape.
  int64_t AxisOf(const Shape& input) const { return AxesOfExample(*this, {axis}, input)[0]; }

  int64_t axis = 0;
};
std::unique_ptr<Operator> MakeOperator(const CumulativeSum& layer);
ops::Value Export(const CumulativeSum& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
