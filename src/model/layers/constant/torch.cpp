#include <ATen/ops/from_blob.h>

#include "model/layers/constant/constant.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Constant& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    std::vector<int64_t> sizes = layer.shape;
    sizes.insert(sizes.begin(), 1);
    // Nobody writes to it.
    const at::Tensor values = at::from_blob(const_cast<float*>(layer.values.data()), sizes,
                                            at::TensorOptions().dtype(at::kFloat));
    sizes[0] = inputs[0].size(0);
    return values.to(inputs[0].options()).expand(sizes);
  });
}

}  // namespace layers
}  // namespace hopper
