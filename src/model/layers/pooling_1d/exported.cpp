#include "model/exported/export_layer.h"
#include "model/layers/pooling_1d/pooling_1d.h"
#include "model/layers/pooling_2d/pooling_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Pooling1D& layer, const ExportCall& call) {
  return Export(static_cast<const Pooling2D&>(layer), call);
}

}  // namespace layers
}  // namespace hopper
