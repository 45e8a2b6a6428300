// Dense layers as planned ops.
#pragma once

#include <memory>

#include "model/planned/planned_activation.h"

namespace hopper {

// Products take bfloat16 operands. The node's weights are the kernel [in][out] and the bias;
// node->bf16 is not null.
std::unique_ptr<PlannedOp> MakePlannedDenseBf16(PlanNode* node, const ActivationSpec& activation,
                                                bool use_bias);

}  // namespace hopper
