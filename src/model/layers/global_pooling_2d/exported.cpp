#include "model/exported/export_layer.h"
#include "model/layers/global_pooling_2d/global_pooling_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const GlobalPooling2D& layer, const ExportCall& call) {
  return layer.maximum ? amax(call.x(), {1, 2}, layer.keepdims)
                       : mean(call.x(), {1, 2}, layer.keepdims);
}

}  // namespace layers
}  // namespace hopper
