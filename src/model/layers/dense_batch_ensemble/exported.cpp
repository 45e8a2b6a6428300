#include "model/exported/export_layer.h"
#include "model/layers/dense_batch_ensemble/dense_batch_ensemble.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const DenseBatchEnsemble& layer, const ExportCall& call) {
  Value x = call.x();
  const int64_t length = x.sizes().back();
  const bool shared = x.dim() == 2;
  if (shared) x = reshape(x, {-1, 1, length});
  if (layer.use_alpha) {
    x = mul(x, call.weights[layer.alpha()]);
  } else if (shared) {
    const std::vector<float> ones(static_cast<size_t>(layer.members), 1.0F);
    x = mul(x, call.graph->Constant(ones, {layer.members, 1}));
  }
  Value y = matmul(x, call.weights[0]);
  if (layer.use_gamma) y = mul(y, call.weights[layer.gamma()]);
  if (layer.use_bias) y = add(y, call.weights[layer.bias()]);
  return Activate(y, layer.activation);
}

}  // namespace layers
}  // namespace hopper
