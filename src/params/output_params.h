// What compile_params say of the outputs of a model: one value for all, a list in their order or a
// dictionary by their names, as Keras takes them.
#pragma once

#include <string>
#include <vector>

#include "params/callable.h"

namespace hopper {

void ReadLosses(const Value& value, CompileParams* params, ProblemList* problems);
void ReadLossWeights(const Value& value, CompileParams* params, ProblemList* problems);
// metrics or weighted_metrics, behind those that there are.
void ReadMetrics(const Value& value, bool weighted, CompileParams* params, ProblemList* problems);
// The losses of several outputs as metrics, behind the others, where their names are known.
void AddOutputLosses(CompileParams* params);

}  // namespace hopper
