#include "model/exported/export_layer.h"
#include "model/layers/permute/permute.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Permute& layer, const ExportCall& call) {
  Shape axes{0};
  axes.insert(axes.end(), layer.dims.begin(), layer.dims.end());
  return permute(call.x(), axes);
}

}  // namespace layers
}  // namespace hopper
