#include "model/layers/noise/noise.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {

// None of its own: Dropout's drops to zero.
std::unique_ptr<PlannedOp> Plan(const AlphaDropout& layer, PlanNode* node) {
  node->alias = !node->training || layer.rate == 0.0;
  return nullptr;
}

}  // namespace layers
}  // namespace hopper
