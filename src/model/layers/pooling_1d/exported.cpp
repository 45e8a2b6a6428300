#include "model/layers/exports.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Pooling1D& layer, const ExportCall& call) {
  return Export(static_cast<const Pooling2D&>(layer), call);
}

}  // namespace layers
}  // namespace hopper
