#include "model/exported/export_layer.h"
#include "model/layers/masking/masking.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const MaskingLayer& layer, const ExportCall& call) {
  return where(any(ne(call.x(), layer.mask_value), -1, /*keepdim=*/true), call.x(), 0.0);
}

}  // namespace layers
}  // namespace hopper
