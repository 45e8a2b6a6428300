// The optimizer of compile_params.
#pragma once

#include "params/callable.h"

namespace hopper {

// Reads an optimizer with its arguments and checks names and ranges.
void ReadOptimizer(const Value& value, OptimizerParams* params, ProblemList* problems);

// Keras' spelling of an optimizer's name in any case ("sgd" is "SGD"); the name itself where it
// is none that Keras has.
std::string NormalizeOptimizerName(const std::string& name);

// Whether any optimizer has an argument of this name.
bool IsOptimizerArgument(const std::string& name);

}  // namespace hopper
