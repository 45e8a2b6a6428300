// Planned ops of activation layers that change the shape or work along any axis.
#pragma once

#include <memory>

#include "model/planned/planned_op.h"

namespace hopper {

// The first half of the last axis times the sigmoid of the second.
std::unique_ptr<PlannedOp> MakePlannedGlu(PlanNode* node);

// Softmax along an axis that is not the last; `axis` as in Keras, with the batch as 0.
std::unique_ptr<PlannedOp> MakePlannedSoftmax(PlanNode* node, int axis);

}  // namespace hopper
