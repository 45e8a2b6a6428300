#include <ATen/ops/stack.h>

#include "model/layers/stack/stack.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Stack& layer) {
  return MakeFunctionOperator(
      [&layer](const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
               const ForwardContext&) { return at::stack(inputs, layer.axis); });
}

}  // namespace layers
}  // namespace hopper
