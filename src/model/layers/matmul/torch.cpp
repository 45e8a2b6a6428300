#include <ATen/ops/matmul.h>

#include "model/layers/matmul/matmul.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Matmul& /*layer*/) {
  return MakeFunctionOperator(
      [](const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
         const ForwardContext&) { return at::matmul(inputs[0], inputs[1]); });
}

}  // namespace layers
}  // namespace hopper
