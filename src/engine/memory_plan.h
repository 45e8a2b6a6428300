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
  int64_t state = 0;    // from its admission until its result was taken
  int64_t running = 0;  // the sums of its iteration's running metrics
  // A copy of its weights that waits for its evaluation, with the sums of that by partition; or
  // that is written.
  int64_t kept = 0;
  int64_t task = 0;  // beside them while a thread works on it
  // As bytes between two processes: the state, sums, and what it reports.
  int64_t travelling = 0;

  int64_t lasting() const { return state + running + kept; }
  int64_t alone() const { return lasting() + task; }
};

// `parts`: threads that share the work on one model. `evaluations`: partitions of all that is
// evaluated after an iteration.
ModelMemory MemoryOf(const Trainer& trainer, int parts, int evaluations);

// A task's memory where the model travels between processes: one task packs it, and then there are
// two images of its state in the place of that one.
int64_t TravellersTask(int64_t state, int64_t task);

// So many tasks a model has at a time: a visit, and an evaluation beside it.
constexpr int kTasksOfAModel = 2;

// What plans take at most that are kept for tasks to come, of all threads together.
int64_t KeptPlanBytes(int64_t limit);

// In how many groups, one after the other, models come that do not fit into `room` together, each
// of them with one task at a time.
int32_t RoundsOf(const std::vector<ModelMemory>& models, int64_t room, int workers);

// What packed data take, in bytes.
struct DataMemory {
  int64_t all = 0;      // of all partitions
  int64_t largest = 0;  // of one partition
  int64_t reading = 0;  // DataDesc::ReadingBytes()

  void Add(const DataDesc& data, int32_t partition);
  void Add(const Dataset& data, int32_t partition) { Add(data.desc(), partition); }
};

struct MemoryPlan {
  bool resident = true;
  // By configuration: whether it can be trained at all, and what is there for it where it has all
  // memory for itself. Depends on nothing but the sizes.
  std::vector<bool> fits;
  std::vector<int64_t> free;
  // Whether all that fit are trained at the same time; otherwise some wait until others have ended.
  bool together = true;
  int64_t models = 0;  // states, kept weights and tasks of those that are trained at a time
  int64_t window = 0;  // for partitions; not resident: holds the largest one at least
  // Beside the window, where partitions come while models are trained. As far as there is room
  // beside one partition: nothing is refused for it.
  int64_t reading = 0;
  // What is kept for tasks to come, as far as nobody else wants the room: orders of examples, the
  // plans of all threads.
  int64_t orders = 0;
  int64_t plans = 0;
  int64_t initial = 0;   // copies of initial weights
  int64_t features = 0;  // what frozen parts of models make of the data
  // What is taken for the whole run.
  int64_t fixed() const { return window + reading + orders + plans + initial + features; }
};

// Where the data do not fit as a whole beside all
// configurations that fit at all, they are read in turns, in the memory that the configurations
// leave, at least a partition's; where those do not fit together either, some of them wait.
// `shared`: what copies of initial weights would take. `pool`: others will follow these, so that
// who fits is looked at for each. `features`: what all features would take.
MemoryPlan PlanMemory(int64_t limit, int threads, const std::vector<ModelMemory>& models,
                      const DataMemory& data, int64_t shared = 0, bool pool = false,
                      int64_t features = 0);

// What features of those partitions of a data set would take, of all frozen parts together: those
// of one seed have the same weights. `trainers`: null for configurations that cannot be read.
int64_t FeaturesOf(const std::vector<const Trainer*>& trainers, const DataDesc& data,
                   const std::vector<int32_t>& partitions);

// The failure of a configuration that is too large by itself; `free`: what it could have.
Problem DoesNotFit(const ModelMemory& memory, int64_t free);

// The error where no configuration fits beside one partition of `train` or `valid` (may be null).
Problem NoRoomForData(int64_t limit, const std::vector<ModelMemory>& models, const Dataset& train,
                      const Dataset* valid);

}  // namespace hopper
