#include <ATen/ops/add.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>

#include "model/layers/dense_batch_ensemble/dense_batch_ensemble.h"
#include "model/network/activate.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const DenseBatchEnsemble& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext& context) {
    const int64_t batch = inputs[0].size(0);
    const int64_t length = inputs[0].size(-1);
    at::Tensor x = inputs[0];  // [batch, members or 1, length]
    if (x.dim() == 2) x = x.unsqueeze(1);
    x = layer.use_alpha ? at::mul(x, weights[layer.alpha()])
                        : x.expand({batch, layer.members, length});
    at::Tensor y =
        at::mm(x.reshape({-1, length}), weights[0]).view({batch, layer.members, layer.units});
    if (layer.use_gamma) y = at::mul(y, weights[layer.gamma()]);
    if (layer.use_bias) y = at::add(y, weights[layer.bias()]);
    return AppliesActivation(layer.activation, context.linear) ? Activate(y, layer.activation) : y;
  });
}

}  // namespace layers
}  // namespace hopper
