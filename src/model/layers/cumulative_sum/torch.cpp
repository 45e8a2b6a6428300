#include <ATen/ops/cumsum.h>

#include "model/layers/cumulative_sum/cumulative_sum.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const CumulativeSum& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    return at::cumsum(x, layer.AxisOf({x.sizes().begin() + 1, x.sizes().end()}));
  });
}

}  // namespace layers
}  // namespace hopper
