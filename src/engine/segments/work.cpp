// Which of the models that came a segment's workers take, and when.
#include "model/work.h"

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/events.h"
#include "engine/segments/device.h"
#include "engine/segments/traveller.h"
#include "train/plan_cache.h"

namespace hopper {

bool Group::Complete(const Traveller& model) const {
  return model.status == ModelStatus::kFailed ||
         ((model.course.iterations >= model.until || model.course.stopped) && !model.evaluating);
}

int32_t Group::Until(const Traveller& model) const {
  // One without a state has nothing to halt with.
  const bool halts = halts_ && model.course.visit == 0 && model.has_state;
  if (model.evaluating || halts) return model.course.iterations;
  return std::min(model.course.iterations + 1, model.rules.num_iterations);
}

bool Group::Ended(const Traveller& model) const {
  if (halts_) return Complete(model);
  return model.status == ModelStatus::kFailed ||
         (!HasVisits(model.rules, model.course) && !model.evaluating);
}

void Group::GoOnLocked(Traveller* model) const {
  if (!HasAllData() || !Complete(*model) || Ended(*model) || !waiting_.empty()) return;
  if (MonotonicSeconds() < goes_on_until_) model->until = Until(*model);
}

double Group::WorkLeft(const Traveller& model) const {
  if (!HasAllData() || model.trainer == nullptr) return 0.0;
  return static_cast<double>(VisitsLeft(model.rules, model.course)) *
         PassFlops(model.trainer->network().spec());
}

void Group::Start(bool halts, double seconds) {
  if (workers_ != nullptr) throw Error(ErrorCode::kInternal, "the segment is at work already");
  halts_ = halts;
  started_ = MonotonicSeconds();
  goes_on_until_ = halts ? 0.0 : started_ + seconds;
  data_.Keep(kept_.orders, kept_.features);
  if (arrivals_.empty()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    BeginHopLocked();
  }
  for (auto& [key, arrival] : arrivals_) {
    if (arrival.missing != 0) {
      throw Error(ErrorCode::kCorrupt,
                  "configuration " + std::to_string(key) + " arrived incomplete");
    }
    travellers_.push_back(Meet(key));
    if (arrival.later) continue;
    Unpack(&arrival, travellers_.back().get());
    const std::lock_guard<std::mutex> lock(mutex_);
    ArriveLocked(travellers_.back().get());
  }
  arrivals_.clear();
  // The most expensive first, so that threads end together.
  const auto cost = [](const std::unique_ptr<Traveller>& model) {
    return model->trainer == nullptr ? 0 : model->trainer->network().spec().flops;
  };
  std::stable_sort(travellers_.begin(), travellers_.end(),
                   [&](const auto& a, const auto& b) { return cost(a) > cost(b); });
  cancel_.store(false);
  failure_.reset();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<int64_t> needs;
    for (const auto& model : travellers_) needs.push_back(model->memory.task);
    due_ = DueModels(needs);
    tasks_ = RunningTasks();
    unpacked_ = travellers_.size();
    for (size_t i = 0; i < travellers_.size(); ++i) {
      travellers_[i]->index = i;
      if (!travellers_[i]->here) waiting_.push_back(i);
      UpdateLocked(travellers_[i].get());
    }
    RequestLoadLocked();
  }
  const int threads = static_cast<int>(
      std::clamp<size_t>(travellers_.size(), 1, static_cast<size_t>(WorkerCount())));
  running_.store(threads);
  BoundPlans();
  workers_ = std::make_unique<Workers>();
  const WorkerSetting setting =
      backend_.Setting({account_.get(), [this](const std::string& text) { WorkerWarning(text); },
                        settings_.threads_per_model, /*promises=*/true});
  int started = 0;
  try {
    for (; started < threads; ++started) {
      workers_->Start(1, setting, [this, started] {
        const PlanCacheScope plans(plans_[static_cast<size_t>(started)].get());
        Work();
      });
    }
  } catch (...) {
    Cancel();
    EndWorkers();
    throw;
  }
}

void Group::Cancel() {
  {
    // Under the lock, so that no worker misses it between its look and its wait.
    const std::lock_guard<std::mutex> lock(mutex_);
    cancel_.store(true);
  }
  idle_.WakeAll();
}

void Group::Work() {
  const CancelScope cancels(cancel_);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!cancel_.load() && unpacked_ > 0) {
    try {
      Task task;
      if (!NextTaskLocked(&task)) {
        idle_.Wait(&lock);
        continue;
      }
      std::vector<Task> tasks = {task};
      if (device_ != nullptr) AddCompanionsLocked(&tasks);
      PinLocked(task, true);
      const int64_t bytes = task.model->memory.task;
      MemoryScope::Promise(bytes);  // under the lock: what is given back is promised anew
      tasks_.Begin(bytes);
      WakeNextLocked();
      lock.unlock();
      if (device_ != nullptr && task.kind != Task::kPack) {
        DoTogether(tasks);
      } else {
        Do(task);
      }
      lock.lock();
      tasks_.End(bytes);
      if (task.kind != Task::kPack) {  // or it would not travel
        for (const Problem& problem : told_) PushWarning(problem, task.model);
        told_.clear();
      }
      for (const Task& each : tasks) {
        each.model->busy = false;
        each.model->packed = each.kind == Task::kPack;
        if (each.model->packed) {
          --unpacked_;
          packed_.push_back(each.model->index);
          if (!waiting_.empty()) WakeEventFd(event_fd_);  // whose place it can have
        } else {
          GoOnLocked(each.model);
        }
        UpdateLocked(each.model);
      }
      PinLocked(task, false);
      RequestLoadLocked();
    } catch (const Cancelled&) {
      if (!lock.owns_lock()) lock.lock();
    } catch (...) {
      Problem problem = backend_.Describe();
      if (!lock.owns_lock()) lock.lock();
      failure_ = std::move(problem);
      cancel_.store(true);
    }
  }
  lock.unlock();
  idle_.WakeAll();
  if (running_.fetch_sub(1) == 1) WakeEventFd(event_fd_);
}

// Each worker has the same share of what is kept, in every hop, whoever comes: never more of them
// start than there are configurations.
void Group::BoundPlans() {
  const auto workers = std::clamp<size_t>(configs_.size(), 1, static_cast<size_t>(WorkerCount()));
  while (plans_.size() < workers) plans_.push_back(std::make_unique<PlanCache>(0));
  const int64_t share = kept_.plans / static_cast<int64_t>(workers);
  // Of an open share, whose configurations were more once, some are without work.
  for (size_t i = 0; i < plans_.size(); ++i) plans_[i]->Bound(i < workers ? share : 0);
}

void Group::EndWorkers() {
  workers_.reset();
  if (settings_.threads_per_model == 1) return;
  for (const auto& plans : plans_) plans->Clear();  // they know teams that are gone
}

bool Group::Poll() {
  if (workers_ == nullptr) throw Error(ErrorCode::kInternal, "the segment has not been started");
  if (running_.load() > 0) return false;
  EndWorkers();
  if (failure_.has_value()) throw Error(*failure_);
  return true;
}

// What this segment can do with the model next, whether the data are in memory or not.
Group::Task Group::NextOf(const Traveller& model) const {
  Task task;
  if (Complete(model)) return task;
  if (model.evaluating) {
    task.partitions = Lacking(model);
    if (!task.partitions.empty()) task.kind = Task::kEvaluate;
  } else if (VisitsHere(model) > 0) {
    task.partitions = {{kTrainSplit, ring_.PartitionOf(model.key, model.course.visit)}};
    task.kind = Task::kTrain;
  }
  return task;
}

void Group::UpdateLocked(Traveller* model) {
  TellWindowLocked(model);
  SetReadyLocked(model);
}

void Group::SetReadyLocked(Traveller* model) {
  bool is_ready = model->here && !model->busy && !model->packed;
  Task next;
  if (is_ready) {
    next = NextOf(*model);
    const auto loaded = [&](const auto& at) { return IsLoadedLocked(at.first, at.second); };
    is_ready = next.kind == Task::kPack ||
               std::any_of(next.partitions.begin(), next.partitions.end(), loaded);
  }
  if (!is_ready) {
    due_.Remove(model->index);
  } else if (device_ == nullptr || next.kind == Task::kPack) {
    due_.Set(model->index, WorkLeft(*model));
  } else {
    next.model = model;
    due_.Set(model->index, WorkLeft(*model), WorkOf(next));
  }
}

void Group::TakeLocked(Traveller* model) {
  model->busy = true;
  due_.Remove(model->index);
}

int64_t Group::RoomForTaskLocked() const {
  return tasks_.RoomOf(account_->limit() - fixed_ - room_.lasting());
}

void Group::WakeNextLocked() { idle_.WakeNext(due_.ready(), RoomForTaskLocked()); }

bool Group::NextTaskLocked(Task* task) {
  const int64_t at = due_.ready().Best(RoomForTaskLocked());
  if (at < 0) return false;
  Traveller* model = travellers_[static_cast<size_t>(at)].get();
  *task = NextOf(*model);
  auto& partitions = task->partitions;
  partitions.erase(
      std::remove_if(partitions.begin(), partitions.end(),
                     [&](const auto& one) { return !IsLoadedLocked(one.first, one.second); }),
      partitions.end());
  task->model = model;
  TakeLocked(model);
  return true;
}

void Group::Do(const Task& task) const {
  Traveller* model = task.model;
  try {
    if (task.kind == Task::kTrain) Train(model, task.partitions.front().second);
    if (task.kind == Task::kEvaluate) Evaluate(model, task.partitions);
  } catch (const Cancelled&) {
    throw;  // the model has not failed, and is not needed any more
  } catch (...) {
    Fail(model, backend_.Describe());
  }
  if (task.kind != Task::kPack) return;
  if (Ended(*model)) {
    model->next_key = key_;
    MakeResult(model);
  } else {
    // With its next segment.
    model->next_key = NextKey(*model);
    Pack(model);
  }
}

void Group::WorkerWarning(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Problem problem;
  if (warnings_.IsNew(text, &problem)) told_.push_back(std::move(problem));
}

}  // namespace hopper
