#include "model/exported/export_layer.h"
#include "model/layers/temperature/temperature.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Temperature& layer, const ExportCall& call) {
  const double share = 1.0 / layer.temperature;
  if (call.x().size(-1) > 1) {
    return softmax(mul(log(clamp_min(call.x(), kLeastProbability)), share), -1);
  }
  const Value p = clamp_max(clamp_min(call.x(), kLeastProbability), kMostProbability);
  return sigmoid(mul(sub(log(p), log(add(neg(p), 1.0))), share));
}

}  // namespace layers
}  // namespace hopper
