#include "model/exported/export_layer.h"
#include "model/layers/where/where.h"

namespace hopper {
namespace layers {

ops::Value Export(const Where& /*layer*/, const ExportCall& call) {
  return where(ne(call.inputs[0], 0.0), call.inputs[1], call.inputs[2]);
}

}  // namespace layers
}  // namespace hopper
