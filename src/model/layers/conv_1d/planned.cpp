#include "model/layers/conv_1d/conv_1d.h"
#include "model/planned/as_image.h"

namespace hopper {
namespace layers {

std::unique_ptr<PlannedOp> Plan(const Conv1D& layer, PlanNode* node) {
  const NodeAsImage image(node);
  return Plan(static_cast<const Conv2D&>(layer), node);
}

}  // namespace layers
}  // namespace hopper
