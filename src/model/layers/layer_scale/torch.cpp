#include <ATen/ops/mul.h>

#include "model/layers/layer_scale/layer_scale.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const LayerScale& /*layer*/) {
  return MakeFunctionOperator([](const std::vector<at::Tensor>& inputs,
                                 const std::vector<at::Tensor>& weights,
                                 const ForwardContext&) { return at::mul(inputs[0], weights[0]); });
}

}  // namespace layers
}  // namespace hopper
