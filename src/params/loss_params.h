// The loss of compile_params.
#pragma once

#include "params/callable.h"

namespace hopper {

// One loss; false with a problem.
bool ReadLoss(const Value& value, OutputLoss* loss, ProblemList* problems);

}  // namespace hopper
