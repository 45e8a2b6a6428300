#include <ATen/TensorOperators.h>
#include <ATen/ops/relu.h>

#include "model/layers/prelu/prelu.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const PReLU&) {
  return MakeFunctionOperator([](const std::vector<at::Tensor>& inputs,
                                 const std::vector<at::Tensor>& weights, const ForwardContext&) {
    return at::relu(inputs[0]) - weights[0] * at::relu(-inputs[0]);
  });
}

}  // namespace layers
}  // namespace hopper
