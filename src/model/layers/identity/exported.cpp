#include "model/exported/export_layer.h"
#include "model/layers/identity/identity.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Identity& /*layer*/, const ExportCall& call) { return call.x(); }

}  // namespace layers
}  // namespace hopper
