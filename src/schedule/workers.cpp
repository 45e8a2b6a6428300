#include "schedule/workers.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "model_hopper/limits.h"

namespace hopper {

void CheckThreadsPerModel(int32_t threads, int32_t threads_per_model) {
  if (threads_per_model <= threads) return;
  throw Error(ErrorCode::kInvalidParameter, "threads_per_model must not be more than threads",
              "It is " + std::to_string(threads_per_model) + ", and the run has " +
                  std::to_string(threads) + (threads == 1 ? " thread." : " threads."),
              "Lower threads_per_model, or raise threads.");
}

int32_t WorkersOf(int32_t threads, int32_t threads_per_model) {
  return std::max(std::min(threads, HOPPER_MAX_THREADS) / threads_per_model, 1);
}

}  // namespace hopper
