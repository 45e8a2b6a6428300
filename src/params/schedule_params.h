// Learning rate schedules: the learning_rate of an optimizer that is not a number.
#pragma once

#include "params/callable.h"

namespace hopper {

// True where `value` is a call, an object or the text of a call.
bool IsSchedule(const Value& value);

// Reads ExponentialDecay(0.1, decay_steps=100, decay_rate=0.9) and the like, or the object that
// Keras writes for it, into `learning_rate` and `schedule` of `params`.
void ReadSchedule(const Value& value, OptimizerParams* params, ProblemList* problems);

}  // namespace hopper
