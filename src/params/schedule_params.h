// Schedules: an optimizer's learning_rate or weight_decay, or dropout_schedule, that is not a
// number.
#pragma once

#include "params/callable.h"

namespace hopper {

// True where `value` is a call, an object or the text of a call.
bool IsSchedule(const Value& value);

// Reads ExponentialDecay(0.1, decay_steps=100, decay_rate=0.9) and the like, or the object that
// Keras writes for it, into the value that it begins with and `schedule`. `what` it is of:
// "learning rate". Where `initial` is null, that value stands elsewhere and is no argument:
// CosineDecay(decay_steps=100).
void ReadSchedule(const Value& value, const std::string& what, double* initial,
                  ScheduleParams* schedule, ProblemList* problems);

}  // namespace hopper
