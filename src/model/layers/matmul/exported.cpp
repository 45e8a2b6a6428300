#include "model/exported/export_layer.h"
#include "model/layers/matmul/matmul.h"

namespace hopper {
namespace layers {

ops::Value Export(const Matmul& /*layer*/, const ExportCall& call) {
  return matmul(call.inputs[0], call.inputs[1]);
}

}  // namespace layers
}  // namespace hopper
