#include <ATen/ops/constant_pad_nd.h>

#include "model/layers/border_2d/border_2d.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Border2D& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const std::vector<int64_t>& ends = layer.ends;
    // From the last axis on; what is below 0 is cut off.
    return at::constant_pad_nd(inputs[0], {0, 0, ends[2], ends[3], ends[0], ends[1]});
  });
}

}  // namespace layers
}  // namespace hopper
