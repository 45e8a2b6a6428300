#include <ATen/ops/narrow.h>

#include "model/layers/split/split.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Split& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    const Split::Range range = layer.Of(Shape(x.sizes().begin() + 1, x.sizes().end()));
    return at::narrow(x, range.axis, range.first, range.size);
  });
}

}  // namespace layers
}  // namespace hopper
