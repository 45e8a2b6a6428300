#include "model/exported/export_layer.h"
#include "model/layers/random_image/random_image.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const RandomImage& /*layer*/, const ExportCall& call) { return call.x(); }

}  // namespace layers
}  // namespace hopper
