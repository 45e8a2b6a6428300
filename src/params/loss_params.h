// The loss of compile_params.
#pragma once

#include "params/callable.h"

namespace hopper {

void ReadLoss(const Value& value, CompileParams* params, ProblemList* problems);

}  // namespace hopper
