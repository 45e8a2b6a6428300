#include "model/layers/pooling_1d/pooling_1d.h"
#include "model/planned/as_image.h"

namespace hopper {
namespace layers {

std::unique_ptr<PlannedOp> Plan(const Pooling1D& layer, PlanNode* node) {
  const NodeAsImage image(node);
  return Plan(static_cast<const Pooling2D&>(layer), node);
}

}  // namespace layers
}  // namespace hopper
