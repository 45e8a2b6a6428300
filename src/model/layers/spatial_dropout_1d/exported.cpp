#include "model/exported/export_layer.h"
#include "model/layers/spatial_dropout_1d/spatial_dropout_1d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const SpatialDropout1D& /*layer*/, const ExportCall& call) { return call.x(); }

}  // namespace layers
}  // namespace hopper
