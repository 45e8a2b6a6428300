#include <ATen/ops/arange.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/trunc.h>

#include "model/layers/one_hot/one_hot.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const OneHot& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor ids = at::trunc(inputs[0].detach().to(at::kFloat));
    const int64_t axis = layer.AxisOf(Shape(ids.sizes().begin() + 1, ids.sizes().end()));
    std::vector<int64_t> sizes(static_cast<size_t>(ids.dim()) + 1, 1);
    sizes[static_cast<size_t>(axis)] = layer.classes;
    const at::Tensor all = at::arange(layer.classes, ids.options()).reshape(sizes);
    return at::eq(ids.unsqueeze(axis), all).to(inputs[0].scalar_type());
  });
}

}  // namespace layers
}  // namespace hopper
