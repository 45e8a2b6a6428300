#include "model/layers/permute/permute.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Reordered& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    return x.permute(layer.OrderOf(Shape(x.sizes().begin() + 1, x.sizes().end())));
  });
}

}  // namespace layers
}  // namespace hopper
