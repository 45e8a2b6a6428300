// The numbers of one optimizer step that are the same for all weights.
#pragma once

#include <cstdint>

#include "optim/update_kernels.h"
#include "params/params.h"

namespace hopper {

// The scalars of the step after `step` others; the pointers are left null.
StepArgs StepScalars(const OptimizerParams& optimizer, int64_t step);

// Slot arrays of the update rule, without the moving average of the weights.
int RuleSlots(const OptimizerParams& optimizer);

}  // namespace hopper
