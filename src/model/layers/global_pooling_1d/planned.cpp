#include "model/layers/global_pooling_1d/global_pooling_1d.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {

std::unique_ptr<PlannedOp> Plan(const GlobalPooling1D& layer, PlanNode* node) {
  if (node->form->HasMask(0)) return nullptr;
  return Plan(static_cast<const GlobalPooling2D&>(layer), node);
}

}  // namespace layers
}  // namespace hopper
