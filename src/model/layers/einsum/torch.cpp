#include <ATen/ops/einsum.h>

#include "model/layers/einsum/einsum.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Einsum& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    std::vector<Shape> shapes;
    for (const at::Tensor& x : inputs) shapes.emplace_back(x.sizes().begin() + 1, x.sizes().end());
    return at::einsum(layer.Of(shapes).Text(/*all_with_batch=*/true), inputs);
  });
}

}  // namespace layers
}  // namespace hopper
