#include "model/layers/identity/identity.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {

std::unique_ptr<PlannedOp> Plan(const Identity& /*layer*/, PlanNode* node) {
  node->alias = true;
  return nullptr;
}

}  // namespace layers
}  // namespace hopper
