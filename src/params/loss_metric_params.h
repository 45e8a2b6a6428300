// The loss and the metrics of compile_params.
#pragma once

#include "params/callable.h"

namespace hopper {

void ReadLoss(const Value& value, CompileParams* params, ProblemList* problems);
// None, [], one metric or a list of metrics.
void ReadMetrics(const Value& value, CompileParams* params, ProblemList* problems);

}  // namespace hopper
