#include "model/exported/export_layer.h"
#include "model/layers/dense/dense.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Dense& layer, const ExportCall& call) {
  Value y = matmul(call.x(), call.weights[0]);
  if (layer.use_bias) y = add(y, call.weights[1]);
  return Activate(y, layer.activation);
}

}  // namespace layers
}  // namespace hopper
