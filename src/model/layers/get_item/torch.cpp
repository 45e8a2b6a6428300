#include <ATen/ops/flip.h>
#include <ATen/ops/slice.h>

#include "model/batch_sizes.h"
#include "model/layers/get_item/get_item.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const GetItem& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    at::Tensor y = inputs[0];
    const GetItem::Taken taken = layer.Of(Shape(y.sizes().begin() + 1, y.sizes().end()));
    const std::vector<int64_t> sizes = WithBatch(y.size(0), taken.shape);
    for (const GetItem::Part& part : taken.parts) {
      const int64_t stride = part.step < 0 ? -part.step : part.step;
      y = at::slice(y, part.axis, part.low(), part.high() + 1, stride);
      if (part.step < 0) y = at::flip(y, {part.axis});
    }
    return y.reshape(sizes);
  });
}

}  // namespace layers
}  // namespace hopper
