// How the threads of a run are shared out among models.
#pragma once

#include <cstdint>

namespace hopper {

// Throws kInvalidParameter where a model would be trained by more than all threads.
void CheckThreadsPerModel(int32_t threads, int32_t threads_per_model);

// How many models are trained at once, by HOPPER_MAX_THREADS at most; one, where there are fewer
// threads than it wants.
int32_t WorkersOf(int32_t threads, int32_t threads_per_model);

}  // namespace hopper
