#include <ATen/ops/clamp_max.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>

#include "model/layers/lookup/text_vectorization.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const TextVectorization& layer) {
  const std::vector<float> weights(layer.weights.begin(), layer.weights.end());
  return MakeFunctionOperator([&layer, weights](const std::vector<at::Tensor>& inputs,
                                                const std::vector<at::Tensor>&,
                                                const ForwardContext&) -> at::Tensor {
    const at::Tensor& x = inputs[0];
    if (layer.mode == TextVectorization::Mode::kMultiHot) return at::clamp_max(x, 1.0);
    if (layer.mode != TextVectorization::Mode::kTfIdf) return x;
    const at::Tensor all =
        at::from_blob(const_cast<float*>(weights.data()), {static_cast<int64_t>(weights.size())},
                      at::TensorOptions().dtype(at::kFloat));
    return at::mul(x, all.to(x.options()));
  });
}

}  // namespace layers
}  // namespace hopper
