#include "model/layers/exports.h"

namespace hopper {
namespace layers {

ops::Value Export(const ActivityRegularization& /*layer*/, const ExportCall& call) {
  return call.x();
}

}  // namespace layers
}  // namespace hopper
