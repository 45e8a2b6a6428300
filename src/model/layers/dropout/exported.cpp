#include "model/exported/export_layer.h"
#include "model/layers/dropout/dropout.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const DropoutLayer& /*layer*/, const ExportCall& call) { return call.x(); }

}  // namespace layers
}  // namespace hopper
