#include "model/layers/permute/permute.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Permute& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    std::vector<int64_t> axes{0};
    axes.insert(axes.end(), layer.dims.begin(), layer.dims.end());
    return inputs[0].permute(axes);
  });
}

}  // namespace layers
}  // namespace hopper
