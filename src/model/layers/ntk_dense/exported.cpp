#include "model/exported/export_layer.h"
#include "model/layers/ntk_dense/ntk_dense.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const NTKDense& layer, const ExportCall& call) {
  const double gain = static_cast<double>(NTKDense::Gain(call.x().sizes().back()));
  Value y = matmul(call.x(), mul(call.weights[0], gain));
  if (layer.use_bias) y = add(y, call.weights[1]);
  return Activate(y, layer.activation);
}

}  // namespace layers
}  // namespace hopper
