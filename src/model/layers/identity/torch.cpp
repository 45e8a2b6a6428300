#include "model/layers/identity/identity.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Identity& /*layer*/) {
  return MakeFunctionOperator([](const std::vector<at::Tensor>& inputs,
                                 const std::vector<at::Tensor>&,
                                 const ForwardContext&) { return inputs[0]; });
}

}  // namespace layers
}  // namespace hopper
