// How data and models share a run's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "data/dataset.h"
#include "train/trainer.h"

namespace hopper {

// What one configuration takes, in bytes.
struct ModelMemory {
  int64_t state = 0;  // as long as the run
  int64_t kept = 0;   // copies of weights that wait for their evaluation
  int64_t task = 0;   // beside the state while a thread works on it

  int64_t alone() const { return state + task; }
};

ModelMemory MemoryOf(const Trainer& trainer, bool evaluated);

struct MemoryPlan {
  bool resident = true;
  // By configuration: whether it fits beside those before it, and what was free for it.
  std::vector<bool> admitted;
  std::vector<int64_t> free;
  int64_t models = 0;  // states, kept weights and tasks of the admitted ones
  int64_t window = 0;  // for partitions; not resident: holds the largest one at least
};

// Data of which `largest` is one partition's most. Where they do not fit as a whole beside all
// configurations that fit at all, the configurations come first and the data get the rest, at least
// a partition.
MemoryPlan PlanMemory(int64_t limit, int threads, const std::vector<ModelMemory>& models,
                      int64_t data, int64_t largest);

// The error where no configuration fits beside one partition of `train` or `valid` (may be null).
Problem NoRoomForData(int64_t limit, const std::vector<ModelMemory>& models, const Dataset& train,
                      const Dataset* valid);

}  // namespace hopper
