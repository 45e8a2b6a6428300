#include "model/exported/export_layer.h"
#include "model/layers/activity_regularization/activity_regularization.h"

namespace hopper {
namespace layers {

ops::Value Export(const ActivityRegularization& /*layer*/, const ExportCall& call) {
  return call.x();
}

}  // namespace layers
}  // namespace hopper
