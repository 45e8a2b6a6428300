#include "model/layers/activity_regularization/activity_regularization.h"

namespace hopper {
namespace layers {

ActivityRegularization::ActivityRegularization(LayerConfig& config)
    : SameShape(config), l1(config.Number("l1", 0.0)), l2(config.Number("l2", 0.0)) {
  if (l1 >= 0.0 && l2 >= 0.0) return;
  config.Fail(ErrorCode::kInvalidParameter, "arguments \"l1\" and \"l2\" must not be negative");
}

}  // namespace layers
}  // namespace hopper
