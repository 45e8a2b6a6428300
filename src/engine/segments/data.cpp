// A segment's data: all of them in memory, or partitions that come and go.
#include <algorithm>
#include <limits>
#include <map>

#include "base/number_text.h"
#include "base/product.h"
#include "engine/events.h"
#include "engine/memory_plan.h"
#include "engine/segments/traveller.h"

namespace hopper {

Group::Visitors Group::PlanVisitors(bool again) {
  Visitors visitors;
  // A model that does not fit beside the largest partition of all fails before it is trained, on
  // whichever segment it begins.
  DataMemory whole;
  whole.Add(data_.train(), 0);
  if (data_.validates()) whole.Add(*data_.valid(), 0);
  const int64_t most = whole.largest;
  bool any_fits = false;  // beside data, and without them
  bool any_alone = false;
  std::vector<ModelMemory> all;
  for (auto& [key, config] : configs_) {
    if (config.trainer == nullptr) continue;
    all.push_back(config.memory);
    any_alone = any_alone || config.memory.alone() <= account_->limit();
    if (config.memory.alone() > account_->limit() - most) {
      config.refused = true;
      config.problem = DoesNotFit(config.memory, account_->limit() - most);
      continue;
    }
    any_fits = true;
    // Models that enter later may meet these anywhere.
    const int32_t first =
        open_ ? key_ : keys_.of[kTrainSplit][static_cast<size_t>(ring_.FirstPartition(key))];
    visitors[first].push_back(config.memory);
  }
  if (any_alone && !any_fits && !again) {
    throw Error(NoRoomForData(account_->limit(), all, data_.train(), data_.valid()));
  }
  return visitors;
}

std::array<int64_t, 2> Group::FeatureBytes() const {
  std::vector<const Trainer*> trainers;
  for (const auto& [key, config] : configs_) trainers.push_back(config.trainer.get());
  std::array<int64_t, 2> features = {0, 0};
  for (const int split : kSplits) {
    if (device_ != nullptr || here_[static_cast<size_t>(split)].empty()) continue;
    features[static_cast<size_t>(split)] =
        FeaturesOf(trainers, data_.of(split).desc(), here_[static_cast<size_t>(split)]);
  }
  return features;
}

void Group::PlanData(DataPlan* plan) {
  const bool again = planned_;
  if (data_.train().bytes() > 0 && !again)
    throw Error(ErrorCode::kInternal, "data were planned after they had come");
  const Visitors visitors = PlanVisitors(again);
  std::array<std::vector<int64_t>, 2> bytes;
  DataMemory data;
  for (size_t split = 0; split < here_.size(); ++split) {
    for (const int32_t p : here_[split]) {
      const Dataset& of = data_.of(static_cast<int>(split));
      bytes[split].push_back(of.PartitionBytes(p));
      data.Add(of, p);
    }
  }
  const std::array<int64_t, 2> features = FeatureBytes();
  *plan = DataPlan();
  plan->bytes_data = data.all;
  plan->bytes_window = data.all;
  for (const auto& [key, models] : visitors) {
    int64_t travelling = 0;
    for (const ModelMemory& model : models)
      travelling = SaturatingAdd(travelling, model.travelling);
    plan->bytes_aside = std::max(plan->bytes_aside, travelling);
  }
  int64_t kept_orders = visitors.empty() ? 0 : std::numeric_limits<int64_t>::max();
  int64_t kept_plans = kept_orders;
  bool meet = true;  // all of them may be here at a time
  int64_t kept_features = kept_orders;
  for (const auto& [key, models] : visitors) {
    const int threads = device_ == nullptr ? WorkerCount() : settings_.threads;  // as a run
    const MemoryPlan own =
        PlanMemory(account_->limit(), threads, models, data, /*shared=*/0,
                   /*pool=*/false, features[kTrainSplit] + features[kValidSplit]);
    if (!own.together && models.size() > 1) {
      meet = false;
      plan->n_waiting = std::max(plan->n_waiting, static_cast<int32_t>(models.size()));
    }
    kept_orders = std::min(kept_orders, own.orders);
    kept_plans = std::min(kept_plans, own.plans);
    kept_features = std::min(kept_features, own.features);
    plan->bytes_models = std::max(plan->bytes_models, own.models);
    if (own.resident) continue;
    reading_ = plan->resident ? own.reading : std::min(reading_, own.reading);
    plan->resident = false;
    plan->bytes_window = std::min(plan->bytes_window, own.window);
  }
  const bool fits_beside =
      plan->resident || (window_ != nullptr && plan->bytes_window >= window_bytes_);
  // Where nobody enters later, models without room wait beside their segment, as at the beginning.
  if (again && ((open_ && !meet) || !fits_beside)) {
    throw Error(ErrorCode::kLimitExceeded,
                "configurations do not fit beside the data as they lie in memory",
                "They take " + BytesText(plan->bytes_models) + "; hopper.memory_limit is " +
                    BytesText(account_->limit()) + ".");
  }
  planned_ = true;
  kept_.orders = kept_orders;
  kept_.plans = kept_plans;
  kept_.features[kTrainSplit] = std::min(kept_features, features[kTrainSplit]);
  kept_.features[kValidSplit] = kept_features - kept_.features[kTrainSplit];
  if (again) {
    plan->resident = window_ == nullptr;
    plan->bytes_window = window_ == nullptr ? data.all : window_bytes_;
    return;
  }
  if (!plan->resident) MakeWindow(visitors, bytes, data, plan);
}

void Group::MakeWindow(const Visitors& visitors, const std::array<std::vector<int64_t>, 2>& bytes,
                       const DataMemory& data, DataPlan* plan) {
  if (device_ != nullptr) {
    throw Error(
        ErrorCode::kOutOfMemory,
        "\"" + data_.train().desc().table_name + "\" does not fit into the memory of a segment",
        "Its data there take " + BytesText(data.all) + ", the models " +
            BytesText(plan->bytes_models) + "; hopper.memory_limit is " +
            BytesText(account_->limit()) + ".",
        "Raise hopper.memory_limit, or train without use_gpus, which reads data in turns.");
  }
  // Each group of models that travels together, or as many of it as have room, reads everything in
  // each of its iterations, and once more to be evaluated at the end.
  int64_t rounds = 0;
  const int64_t room = account_->limit() - plan->bytes_window - reading_ - kept_.all();
  for (const auto& [key, models] : visitors) rounds += RoundsOf(models, room, WorkerCount());
  const int64_t reads = rounds * (int64_t{rules_.num_iterations} + 1);
  plan->max_reads = static_cast<int32_t>(std::min<int64_t>(reads, INT32_MAX));
  // The rest is for larger ones that enter later.
  if (open_) plan->bytes_window = std::max(plan->bytes_window / 2, data.largest);
  window_ = std::make_unique<PartitionWindow>(bytes[0], bytes[1], plan->bytes_window);
  for (size_t split = 0; split < here_.size(); ++split) lacking_[split].resize(here_[split].size());
  window_bytes_ = plan->bytes_window;
}

void Group::AddBuffer(const PackedBuffer& buffer) {
  Dataset& data = data_.Taking(buffer);
  if (window_ != nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int index = IndexOf(buffer.split, buffer.partition_id);
    if (index < 0 || !window_->IsLoading(buffer.split, index)) {
      throw Error(ErrorCode::kInternal, "a buffer of another partition than the wanted one came");
    }
  }
  const int64_t before = data.bytes();
  data.AddBuffer(buffer);
  account_->Add(data.bytes() - before);
  if (window_ == nullptr && account_->used() > account_->limit()) {
    throw Error(
        ErrorCode::kOutOfMemory, "packed data of a segment do not fit into memory",
        "They take more than the " + BytesText(account_->limit()) + " of hopper.memory_limit.",
        "Raise hopper.memory_limit, or spread the data over more segments.");
  }
}

void Group::CheckData() const {
  if (window_ != nullptr) return;  // each partition is checked when it has come
  for (const int split : kSplits) {
    const std::vector<int32_t>& here = here_[static_cast<size_t>(split)];
    if (!here.empty()) data_.of(split).CheckComplete(here);
  }
}

// The window counts this segment's partitions alone, in their order: -1 for another one.
int Group::IndexOf(int split, int partition) const {
  const std::vector<int32_t>& here = here_[static_cast<size_t>(split)];
  const auto at = std::lower_bound(here.begin(), here.end(), partition);
  return at == here.end() || *at != partition ? -1 : static_cast<int>(at - here.begin());
}

bool Group::IsLoadedLocked(int split, int partition) const {
  return window_ == nullptr || window_->IsLoaded(split, IndexOf(split, partition));
}

// Where the model is in its visit of this segment, and what it is to be evaluated on.
void Group::TellWindowLocked(Traveller* model) {
  if (window_ == nullptr || !model->here || model->packed) return;
  const Task next = NextOf(*model);
  const bool trains = next.kind == Task::kTrain;
  window_->SetRider(
      static_cast<int>(model->index),
      trains ? IndexOf(kTrainSplit, ring_.PartitionOf(model->key, model->course.visit)) : 0,
      trains ? VisitsHere(*model) : 0);
  WantLocked(*model, false);
  model->wanted.clear();
  if (next.kind == Task::kEvaluate) model->wanted = next.partitions;
  WantLocked(*model, true);
}

void Group::WantLocked(const Traveller& model, bool wants) {
  for (const auto& [split, p] : model.wanted) {
    const int index = IndexOf(split, p);
    std::set<int>& lacking = lacking_[static_cast<size_t>(split)][static_cast<size_t>(index)];
    if (wants) {
      window_->Want(split, index);
      lacking.insert(static_cast<int>(model.index));
    } else {
      window_->Unwant(split, index);
      lacking.erase(static_cast<int>(model.index));
    }
  }
}

void Group::PinLocked(const Task& task, bool pin) {
  if (window_ == nullptr) return;
  for (const auto& [split, p] : task.partitions) {
    if (pin) {
      window_->Pin(split, IndexOf(split, p));
    } else {
      window_->Unpin(split, IndexOf(split, p));
    }
  }
}

void Group::RequestLoadLocked() {
  if (window_ == nullptr) return;
  PartitionWindow::Place load;
  std::vector<PartitionWindow::Place> dropped;
  if (!window_->NextLoad(&load, &dropped)) return;
  for (const PartitionWindow::Place& place : dropped) {
    Dataset& data = data_.of(place.split);
    const int32_t p = here_[static_cast<size_t>(place.split)][static_cast<size_t>(place.partition)];
    account_->Add(-data.PartitionBytes(p));
    data.Drop(p);
  }
  loads_.Begin();
  load_ = load;
  WakeEventFd(event_fd_);
}

bool Group::NextLoad(int32_t* split, int32_t* partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!load_.has_value()) return false;
  *split = load_->split;
  *partition = here_[static_cast<size_t>(load_->split)][static_cast<size_t>(load_->partition)];
  load_.reset();
  return true;
}

void Group::EndLoad(int32_t split, int32_t partition) {
  const int index = IndexOf(split, partition);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (window_ == nullptr || index < 0 || !window_->IsLoading(split, index)) {
      throw Error(ErrorCode::kInternal, "a partition came that nobody had asked for");
    }
  }
  data_.of(split).EndPartition(partition);
  std::unique_lock<std::mutex> lock(mutex_);
  window_->FinishLoad();
  loads_.End(data_.of(split).PartitionBytes(partition));
  RequestLoadLocked();
  // The models that waited for it.
  SetReadyAt(lacking_[static_cast<size_t>(split)][static_cast<size_t>(index)], &lock);
  if (split == kTrainSplit) SetReadyAt(window_->RidersTo(index), &lock);
}

// Some at a time: workers find tasks meanwhile. Nothing that the window knows of them has changed;
// a busy model is its worker's to look at.
void Group::SetReadyAt(const std::set<int>& models, std::unique_lock<std::mutex>* lock) {
  constexpr int kAtOnce = 64;
  int n = 0;
  for (auto at = models.begin(); at != models.end();) {
    const int index = *at;
    Traveller* model = travellers_[static_cast<size_t>(index)].get();
    if (!model->busy) SetReadyLocked(model);
    if (++n % kAtOnce == 0) {
      WakeNextLocked();
      lock->unlock();
      lock->lock();
    }
    at = models.upper_bound(index);
  }
  WakeNextLocked();
}

}  // namespace hopper
