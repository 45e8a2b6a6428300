#include "model/exported/export_layer.h"
#include "model/layers/prelu/prelu.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const PReLU& /*layer*/, const ExportCall& call) {
  return sub(relu(call.x()), mul(call.weights[0], relu(neg(call.x()))));
}

}  // namespace layers
}  // namespace hopper
