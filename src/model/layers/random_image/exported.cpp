#include "model/layers/exports.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const RandomImage& /*layer*/, const ExportCall& call) { return call.x(); }

}  // namespace layers
}  // namespace hopper
