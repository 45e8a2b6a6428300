#include "engine/memory_plan.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "base/product.h"
#include "schedule/largest_sum.h"
#include "schedule/room.h"

namespace hopper {

namespace {

// Of an envelope beside state and sums, about.
constexpr int64_t kReportBytes = 8 << 10;

// Shares out what is left.
void Keep(int64_t limit, int64_t left, int64_t shared, int64_t features, MemoryPlan* plan) {
  plan->orders = std::clamp<int64_t>(left, 0, KeptOrderBytes(limit));
  left -= plan->orders;
  plan->plans = std::clamp<int64_t>(left, 0, KeptPlanBytes(limit));
  left -= plan->plans;
  plan->initial = std::clamp<int64_t>(left, 0, shared);
  left -= plan->initial;
  // Where data come in turns, their window takes the rest; models to come get half of it.
  if (!plan->resident) return;
  plan->features = std::clamp<int64_t>(plan->together ? left : left / 2, 0, features);
}

// What the tasks take that `threads` threads run at a time, one a model; a model can be trained and
// evaluated at once. `tasks`: of each model, in any order.
int64_t WorkingMemory(const std::vector<int64_t>& tasks, int threads) {
  LargestSum all(threads);
  for (const int64_t task : tasks) {
    for (int i = 0; i < kTasksOfAModel; ++i) all.Add(task);
  }
  return all.sum();
}

}  // namespace

int64_t KeptPlanBytes(int64_t limit) { return limit / 64; }

ModelMemory MemoryOf(const Trainer& trainer, int parts, int evaluations) {
  // No machine has more; a few of them can be added.
  const auto bounded = [](int64_t bytes) { return std::min(bytes, int64_t{1} << 60); };
  // Some metrics have a sum for each pair of classes.
  const int64_t sums = bounded(Product({trainer.SumsBytes(), evaluations}));
  ModelMemory memory;
  memory.state = bounded(trainer.StateBytes());
  memory.task = bounded(trainer.MemoryEstimate(parts) - trainer.StateBytes());
  memory.running = bounded(trainer.SumsBytes());
  memory.kept = bounded(
      static_cast<int64_t>(trainer.network().spec().flat_size) * int64_t{sizeof(float)} + sums);
  memory.travelling = memory.state + memory.running + sums + kReportBytes;
  return memory;
}

int64_t TravellersTask(int64_t state, int64_t task) { return std::max(state, task); }

int32_t RoundsOf(const std::vector<ModelMemory>& models, int64_t room, int workers) {
  int32_t rounds = 1;
  ModelRoom all(room, workers);
  for (const ModelMemory& model : models) {
    if (!all.HasFor(model.lasting(), model.task)) {
      ++rounds;
      all = ModelRoom(room, workers);
    }
    all.Enter(model.lasting(), model.task);
  }
  return rounds;
}

MemoryPlan PlanMemory(int64_t limit, int threads, const std::vector<ModelMemory>& models,
                      const DataMemory& data, int64_t shared, bool pool, int64_t features) {
  MemoryPlan plan;
  plan.fits.resize(models.size(), false);
  plan.free.resize(models.size(), 0);
  int64_t lasting = 0;
  int64_t widest = 0;
  std::vector<int64_t> tasks;
  std::vector<int64_t> alone;
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelMemory& model = models[i];
    plan.free[i] = limit - data.largest;
    if (model.alone() > plan.free[i]) continue;
    plan.fits[i] = true;
    lasting += model.lasting();
    tasks.push_back(model.task);
    alone.push_back(model.alone());
    widest = std::max(widest, model.alone());
  }
  plan.models = lasting + WorkingMemory(tasks, threads);
  plan.resident = plan.models + data.all <= limit;
  const int64_t least = plan.resident ? data.all : data.largest;
  plan.together = !pool && plan.models + least <= limit;
  if (plan.together) {
    const int64_t left = limit - plan.models - least;
    plan.reading = plan.resident ? 0 : std::min(left, data.reading);
    Keep(limit, left - plan.reading, shared, features, &plan);
    plan.window = plan.resident ? data.all
                                : limit - plan.models - plan.reading - plan.orders - plan.plans -
                                      plan.initial;
    return plan;
  }
  // As many models as there are threads are to be trained at a time. Where that leaves no room for
  // the data, these get a quarter, and what the largest model leaves at most.
  std::sort(alone.begin(), alone.end(), std::greater<>());
  int64_t busy = 0;
  for (size_t i = 0; i < alone.size() && i < static_cast<size_t>(threads); ++i) busy += alone[i];
  plan.resident = data.all <= limit && (data.all <= data.largest || data.all + busy <= limit);
  if (plan.resident) {
    plan.window = data.all;
  } else {
    const int64_t room = limit - widest;
    plan.window = std::max(std::min({data.all, limit / 4, room - data.reading}), data.largest);
    plan.reading = std::clamp<int64_t>(room - plan.window, 0, data.reading);
  }
  Keep(limit, limit - plan.window - plan.reading - busy, shared, features, &plan);
  return plan;
}

int64_t FeaturesOf(const std::vector<const Trainer*>& trainers, const DataDesc& data,
                   const std::vector<int32_t>& partitions) {
  std::set<std::pair<Digest, uint64_t>> seen;
  int64_t bytes = 0;
  for (const Trainer* trainer : trainers) {
    if (trainer == nullptr || trainer->FeatureBytes(1) == 0) continue;
    const Digest& prefix = trainer->network().prefix()->spec().hash;
    if (!seen.emplace(prefix, trainer->seed()).second) continue;
    for (const int32_t p : partitions) {
      const int64_t rows = PartitionRange(data.n_rows, data.n_partitions, p).count;
      bytes = SaturatingAdd(bytes, trainer->FeatureBytes(rows));
    }
  }
  return bytes;
}

void DataMemory::Add(const DataDesc& data, int32_t partition) {
  const int64_t bytes = data.PartitionBytes(partition);
  all += bytes;
  largest = std::max(largest, bytes);
  reading = std::max(reading, data.ReadingBytes());
}

Problem DoesNotFit(const ModelMemory& memory, int64_t free) {
  return {ErrorCode::kOutOfMemory, "configuration does not fit into memory",
          "It needs about " + BytesText(memory.alone()) + ", " +
              BytesText(std::max<int64_t>(free, 0)) + " of hopper.memory_limit are free.",
          "Lower batch_size, or raise hopper.memory_limit."};
}

Problem NoRoomForData(int64_t limit, const std::vector<ModelMemory>& models, const Dataset& train,
                      const Dataset* valid) {
  const auto largest = [](const Dataset& of) {
    return of.n_partitions() == 0 ? 0 : of.PartitionBytes(0);
  };
  const Dataset& data = valid != nullptr && largest(*valid) > largest(train) ? *valid : train;
  int64_t smallest = -1;
  for (const ModelMemory& model : models) {
    const int64_t needed = model.alone();
    if (smallest < 0 || needed < smallest) smallest = needed;
  }
  const int64_t room = limit - smallest;
  std::string hint = "Raise hopper.memory_limit";
  if (room > 0) {
    const int64_t row = static_cast<int64_t>(data.desc().x_bytes() + data.desc().y_bytes());
    if (row <= room) {
      const int64_t rows = room / row;
      hint += ", or pack the data again into " +
              std::to_string((data.desc().n_rows + rows - 1) / rows) + " partitions or more";
    }
  }
  return {ErrorCode::kOutOfMemory,
          "no partition of \"" + data.desc().table_name + "\" fits into memory",
          "The largest one takes " + BytesText(largest(data)) + ", the smallest configuration " +
              BytesText(smallest) + "; hopper.memory_limit is " + BytesText(limit) + ".",
          hint + "."};
}

}  // namespace hopper
