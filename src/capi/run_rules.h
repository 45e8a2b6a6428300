// The rules of a run's course by the options of the C boundary.
#pragma once

#include <vector>

#include "model_hopper/training.h"
#include "schedule/course.h"

namespace hopper {

// All but the partitions; numbers are not looked at.
RunRules RulesFromC(const hopper_run_options& options);
// The first partition of each run of partitions, for Ring.
std::vector<int> StartsFromC(const hopper_run_options& options);

}  // namespace hopper
