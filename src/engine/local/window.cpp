// What a run does where its data do not fit into memory: it tells the window who needs which
// partition, and asks for the one that is next.
#include <utility>

#include "engine/local/run.h"

namespace hopper {

// A partition that is in memory and that nobody has taken, or -1.
int Run::NextOfPassLocked(const EvaluationPass& pass) const {
  if (pass.untaken == 0) return -1;
  for (size_t p = pass.first; p < pass.taken.size(); ++p) {
    if (!pass.taken[p] && IsLoadedLocked(pass.split, static_cast<int>(p))) {
      return static_cast<int>(p);
    }
  }
  return -1;
}

// Where the model is and how far it has to go; while its metrics decide on that, or it halts, it
// has left.
void Run::TravelLocked(const Model& model) {
  if (window_ == nullptr) return;
  int64_t visits = 0;
  if (model.status == ModelStatus::kTraining && model.admitted && !model.stored.awaited &&
      !model.course.deciding && !HaltsHere(model) && HasRoomForVisitLocked(model)) {
    visits = VisitsLeft(model.rules, model.course);
  }
  window_->SetRider(static_cast<int>(model.index), ring_.PartitionOf(model.key, model.course.visit),
                    visits);
}

// What a task reads stays in memory until it ends. From its begin on, a partition of an evaluation
// is not wanted any more for itself.
void Run::PinLocked(const Task& task, bool pin) {
  task.model->tasks += pin ? 1 : -1;
  if (!pin) ReleaseIfIdleLocked(task.model);
  if (window_ == nullptr) return;
  const int split = task.pass == nullptr ? kTrainSplit : task.pass->split;
  if (!pin) {
    window_->Unpin(split, task.partition);
    return;
  }
  window_->Pin(split, task.partition);
  if (task.pass != nullptr) WantLocked(*task.model, split, task.partition, false);
}

void Run::WantLocked(const Model& model, int split, int partition, bool wants) {
  if (window_ == nullptr) return;
  std::multiset<size_t>& lacking =
      lacking_[static_cast<size_t>(split)][static_cast<size_t>(partition)];
  if (wants) {
    window_->Want(split, partition);
    lacking.insert(model.index);
  } else {
    window_->Unwant(split, partition);
    lacking.erase(lacking.find(model.index));
  }
}

void Run::DropPassesLocked(Model* model) {
  if (window_ != nullptr) {
    for (const auto& pass : model->passes) {
      for (size_t p = 0; p < pass->taken.size(); ++p) {
        if (!pass->taken[p]) WantLocked(*model, pass->split, static_cast<int>(p), false);
      }
    }
  }
  model->passes.clear();
}

void Run::RequestLoadLocked() {
  if (window_ == nullptr || cancel_.load()) return;
  PartitionWindow::Place load;
  std::vector<PartitionWindow::Place> dropped;
  if (!window_->NextLoad(&load, &dropped)) return;
  for (const PartitionWindow::Place& place : dropped) {
    data_.of(place.split).Drop(place.partition);
  }
  const int64_t change = window_->bytes() - window_bytes_;
  window_bytes_ += change;
  account_->Add(change);
  loads_.Begin();
  Event event = NewEventLocked(EventType::kLoad, nullptr);
  event.split = load.split;
  event.partition = load.partition;
  events_.Push(std::move(event));
}

// A model that leaves them or comes meanwhile has been looked at by whoever moved it.
template <typename Models>
void Run::UpdateAll(const Models& models, Books* books) {
  constexpr int kAtOnce = 64;
  int n = 0;
  for (auto at = models.begin(); at != models.end();) {
    const auto model = *at;
    UpdateLocked(models_[static_cast<size_t>(model)].get());
    if (++n % kAtOnce == 0) {
      WakeNextLocked();
      books->unlock();
      books->lock();
    }
    at = models.upper_bound(model);
  }
  WakeNextLocked();
}

void Run::EndLoad(int split, int partition) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (window_ == nullptr || !window_->IsLoading(split, partition)) {
      throw Error(ErrorCode::kInternal, "a partition came that nobody had asked for");
    }
  }
  Dataset& data = data_.of(split);
  data.EndPartition(partition);
  {
    Books books(this);
    window_->FinishLoad();
    loads_.End(data.PartitionBytes(partition));
    RequestLoadLocked();
    // Models that waited for it, some at a time: workers find tasks meanwhile.
    UpdateAll(lacking_[static_cast<size_t>(split)][static_cast<size_t>(partition)], &books);
    if (split == kTrainSplit) UpdateAll(window_->RidersTo(partition), &books);
  }
}

}  // namespace hopper
