#include "engine/memory_plan.h"

#include <algorithm>
#include <string>

#include "engine/failure.h"

namespace hopper {

namespace {

// What the tasks that run at a time take at most; a model can be trained and evaluated at once.
int64_t WorkingMemory(const std::vector<int64_t>& tasks, int threads) {
  std::vector<int64_t> all = tasks;
  all.insert(all.end(), tasks.begin(), tasks.end());
  std::sort(all.rbegin(), all.rend());
  int64_t sum = 0;
  for (size_t i = 0; i < all.size() && i < static_cast<size_t>(threads); ++i) sum += all[i];
  return sum;
}

int64_t LargestPartition(const Dataset& data) {
  return data.n_partitions() == 0 ? 0 : data.PartitionBytes(0);
}

}  // namespace

ModelMemory MemoryOf(const Trainer& trainer, bool evaluated) {
  ModelMemory memory;
  memory.state = trainer.StateBytes();
  memory.task = trainer.MemoryEstimate() - memory.state;
  if (evaluated) {
    memory.kept = static_cast<int64_t>(trainer.network().spec().flat_size) * int64_t{sizeof(float)};
  }
  return memory;
}

MemoryPlan PlanMemory(int64_t limit, int threads, const std::vector<ModelMemory>& models,
                      int64_t data, int64_t largest) {
  MemoryPlan plan;
  plan.admitted.resize(models.size(), false);
  plan.free.resize(models.size(), 0);
  int64_t states = 0;
  int64_t kept = 0;
  std::vector<int64_t> tasks;
  for (const ModelMemory& model : models) {
    if (model.alone() > limit) continue;
    states += model.state;
    kept += model.kept;
    tasks.push_back(model.task);
  }
  const int64_t beside = limit - states - kept - WorkingMemory(tasks, threads);
  const int64_t task = tasks.empty() ? 0 : *std::max_element(tasks.begin(), tasks.end());
  // Where not even one partition lets all threads work at once, no data need go for their sake.
  plan.resident = data <= beside || (beside < largest && data <= limit - states - task);

  int64_t resident = plan.resident ? data : largest;
  int64_t widest = 0;
  tasks.clear();
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelMemory& model = models[i];
    const int64_t lasting = model.state + (plan.resident ? 0 : model.kept);
    // One task runs at a time at least, whichever it is.
    plan.free[i] = limit - resident - std::max<int64_t>(widest - model.task, 0);
    if (lasting + model.task > plan.free[i]) continue;
    plan.admitted[i] = true;
    resident += lasting;
    widest = std::max(widest, model.task);
    plan.models += model.state + model.kept;
    tasks.push_back(model.task);
  }
  plan.models += WorkingMemory(tasks, threads);
  plan.window = plan.resident ? data : std::max(limit - plan.models, largest);
  return plan;
}

Problem NoRoomForData(int64_t limit, const std::vector<ModelMemory>& models, const Dataset& train,
                      const Dataset* valid) {
  const Dataset& data =
      valid != nullptr && LargestPartition(*valid) > LargestPartition(train) ? *valid : train;
  int64_t smallest = -1;
  for (const ModelMemory& model : models) {
    const int64_t needed = model.alone() + model.kept;
    if (smallest < 0 || needed < smallest) smallest = needed;
  }
  const int64_t room = limit - smallest;
  std::string hint = "Raise hopper.memory_limit";
  if (room > 0) {
    int64_t bytes = 0;
    for (const int64_t partition : data.AllPartitionBytes()) bytes += partition;
    const int64_t row = static_cast<int64_t>(data.desc().x_bytes() + data.desc().y_bytes());
    if (row <= room) {
      const int64_t rows = room / row;
      hint += ", or pack the data again into " +
              std::to_string((data.desc().n_rows + rows - 1) / rows) + " partitions or more";
    }
  }
  return {ErrorCode::kOutOfMemory,
          "no partition of \"" + data.desc().table_name + "\" fits into memory",
          "The largest one takes " + BytesText(LargestPartition(data)) +
              ", the smallest configuration " + BytesText(smallest) + "; hopper.memory_limit is " +
              BytesText(limit) + ".",
          hint + "."};
}

}  // namespace hopper
