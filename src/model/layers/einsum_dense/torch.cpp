#include <ATen/ops/add.h>
#include <ATen/ops/einsum.h>

#include "model/layers/einsum_dense/einsum_dense.h"
#include "model/network/activate.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const EinsumDense& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext& context) {
    const at::Tensor& x = inputs[0];
    const Equation equation = layer.EquationOf({x.sizes().begin() + 1, x.sizes().end()});
    at::Tensor y = at::einsum(equation.Text(/*all_with_batch=*/false), {x, weights[0]});
    if (weights.size() > 1) y = at::add(y, weights[1]);
    return AppliesActivation(layer.activation, context.linear) ? Activate(y, layer.activation) : y;
  });
}

}  // namespace layers
}  // namespace hopper
