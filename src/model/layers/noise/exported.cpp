#include "model/exported/export_layer.h"
#include "model/layers/noise/noise.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const GaussianNoise& /*layer*/, const ExportCall& call) { return call.x(); }

Value Export(const GaussianDropout& /*layer*/, const ExportCall& call) { return call.x(); }

}  // namespace layers
}  // namespace hopper
