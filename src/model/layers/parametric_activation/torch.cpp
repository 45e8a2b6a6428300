#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include "model/layers/parametric_activation/parametric_activation.h"
#include "model/network/activate.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const ParametricActivation& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    return x + (Activate(x, layer.activation) - x) * weights[0];
  });
}

}  // namespace layers
}  // namespace hopper
