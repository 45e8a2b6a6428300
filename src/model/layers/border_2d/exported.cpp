#include "model/exported/export_layer.h"
#include "model/layers/border_2d/border_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Border2D& layer, const ExportCall& call) {
  const std::vector<int64_t>& ends = layer.ends;
  return pad(call.x(), {0, ends[0], ends[2], 0}, {0, ends[1], ends[3], 0});
}

}  // namespace layers
}  // namespace hopper
