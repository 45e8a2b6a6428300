// What a run has spent on a model; without libtorch, as what travels between segments is.
#pragma once

#include <cstdint>

namespace hopper {

struct Spent {
  int64_t examples = 0;  // that it was trained on
  double seconds_training = 0.0;
  double seconds_evaluating = 0.0;
  double seconds_waiting = 0.0;  // ready, but no worker was free
};

}  // namespace hopper
