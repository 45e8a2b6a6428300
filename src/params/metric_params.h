// The metrics of compile_params.
#pragma once

#include "params/callable.h"

namespace hopper {

// None, [], one metric or a list of metrics.
void ReadMetrics(const Value& value, CompileParams* params, ProblemList* problems);

}  // namespace hopper
