// What a segment does with the models that came.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "engine/events.h"
#include "engine/failure.h"
#include "engine/group_device.h"
#include "engine/group_traveller.h"
#include "engine/not_finite.h"
#include "train/plan_cache.h"

namespace hopper {

// The iteration of this run whose weights the model delivers.
int32_t Group::DeliveredHere(const Traveller& model) {
  return static_cast<int32_t>(model.trainer->DeliveredIteration(model.state) -
                              model.total_iterations + model.course.iterations);
}

// Of what was ordered last: the final pass, or the evaluations of an iteration.
bool Group::WantsPass(const Traveller& model, int split) const {
  if (model.course.final_pass) {
    return model.rules.EndsWith(split, DeliveredHere(model), model.watching);
  }
  return model.rules.Evaluates(split, model.course.iterations, model.watching);
}

// What is evaluated now are the weights of the best iteration.
bool Group::DeliversBest(const Traveller& model) const {
  return model.course.final_pass && model.watching.restores &&
         model.state.monitor.best_weights.size() != 0;
}

bool Group::Complete(const Traveller& model) const {
  return model.status == ModelStatus::kFailed ||
         ((model.course.iterations >= model.until || model.course.stopped) && !model.evaluating);
}

int32_t Group::Until(const Traveller& model) const {
  if (!open_) return iteration_;
  if (model.evaluating) return model.course.iterations;
  return std::min(model.course.iterations + 1, model.rules.num_iterations);
}

bool Group::Ended(const Traveller& model) const {
  if (!open_) return finish_;
  return model.status == ModelStatus::kFailed ||
         (!HasVisits(model.rules, model.course) && !model.evaluating);
}

void Group::Start(int32_t iteration, bool fresh, bool finish) {
  if (workers_ != nullptr) throw Error(ErrorCode::kInternal, "the segment is at work already");
  iteration_ = iteration;
  fresh_ = fresh;
  finish_ = finish;
  started_ = MonotonicSeconds();
  train_.orders().Keep(kept_orders_);
  train_.features().Keep(kept_features_[kTrainSplit]);
  if (valid_) valid_->features().Keep(kept_features_[kValidSplit]);
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
  failed_ = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<int64_t> needs;
    for (const auto& model : travellers_) needs.push_back(model->memory.task);
    ready_ = ReadyModels(needs);
    companions_ = Companions();
    task_bytes_ = 0;
    tasks_ = 0;
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
  workers_ = std::make_unique<Workers>();
  int started = 0;
  try {
    for (; started < threads; ++started) {
      workers_->Start(
          1, account_.get(), [this](const std::string& text) { WorkerWarning(text); },
          [this, threads] {
            const PlanCache plans(kept_plans_ / threads);
            Work();
          },
          threads_per_model_, /*promises=*/true);
    }
  } catch (...) {
    Cancel();
    workers_.reset();
    throw;
  }
}

void Group::Cancel() {
  {
    // Under the lock, so that no worker misses it between its look and its wait.
    const std::lock_guard<std::mutex> lock(mutex_);
    cancel_.store(true);
  }
  wake_.notify_all();
}

void Group::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!cancel_.load() && unpacked_ > 0) {
    try {
      Task task;
      if (!NextTaskLocked(&task)) {
        TensorMemoryScope::Trim();  // others may need it meanwhile
        ++idle_;
        wake_.wait(lock);
        --idle_;
        continue;
      }
      std::vector<Task> tasks = {task};
      if (device_ != nullptr) AddCompanionsLocked(&tasks);
      PinLocked(task, true);
      const int64_t bytes = task.model->memory.task;
      TensorMemoryScope::Promise(bytes);  // under the lock: what is given back is promised anew
      task_bytes_ += bytes;
      ++tasks_;
      WakeNextLocked();
      lock.unlock();
      if (device_ != nullptr && task.kind != Task::kPack) {
        DoTogether(tasks);
      } else {
        Do(task);
      }
      lock.lock();
      task_bytes_ -= bytes;
      --tasks_;
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
        }
        UpdateLocked(each.model);
      }
      PinLocked(task, false);
      RequestLoadLocked();
    } catch (...) {
      const Problem problem = DescribeException();
      if (!lock.owns_lock()) lock.lock();
      failed_ = true;
      failure_ = problem;
      cancel_.store(true);
    }
  }
  lock.unlock();
  wake_.notify_all();
  if (running_.fetch_sub(1) == 1) WakeEventFd(event_fd_);
}

bool Group::Poll() {
  if (workers_ == nullptr) throw Error(ErrorCode::kInternal, "the segment has not been started");
  if (running_.load() > 0) return false;
  workers_.reset();
  if (failed_) throw Error(failure_);
  return true;
}

// What this segment can do with the model next, whether the data are in memory or not.
Group::Task Group::NextOf(const Traveller& model) const {
  Task task;
  if (finish_ || Complete(model)) return task;
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
  if (is_ready) {
    ready_.Set(model->index, 0.0);
  } else {
    ready_.Remove(model->index);
  }
  if (device_ == nullptr) return;
  next.model = model;
  if (is_ready && next.kind != Task::kPack) {
    companions_.Set(model->index, WorkOf(next));
  } else {
    companions_.Remove(model->index);
  }
}

void Group::TakeLocked(Traveller* model) {
  model->busy = true;
  ready_.Remove(model->index);
  companions_.Remove(model->index);
}

// Bytes that a further task may take. Where memory is short, tasks wait for one another.
int64_t Group::RoomForTaskLocked() const {
  return tasks_ == 0 ? std::numeric_limits<int64_t>::max()
                     : account_->limit() - fixed_ - room_.lasting() - task_bytes_;
}

// As in engine/run_work.cpp: every worker that takes a task wakes the next one where there is
// another. Who ends one looks for the next itself.
void Group::WakeNextLocked() {
  if (idle_ > 0 && ready_.Best(RoomForTaskLocked()) >= 0) wake_.notify_one();
}

bool Group::NextTaskLocked(Task* task) {
  const int64_t at = ready_.Best(RoomForTaskLocked());
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
  } catch (...) {
    Fail(model, DescribeException());
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

int Group::VisitsHere(const Traveller& model) const {
  return VisitsOn(keys_, ring_, model.key, model.course.visit, key_);
}

// Partitions here that the model is not evaluated on yet.
std::vector<std::pair<int, int>> Group::Lacking(const Traveller& model) const {
  std::vector<std::pair<int, int>> lacking;
  for (const int split : kSplits) {
    if (!WantsPass(model, split)) continue;
    for (const int32_t p : here_[static_cast<size_t>(split)]) {
      if (model.passed.count({split, p}) == 0) lacking.emplace_back(split, p);
    }
  }
  return lacking;
}

// Adds what led to the visit; its own seconds are set, and it ends now.
void Group::RecordVisit(VisitRecord visit, Traveller* model) const {
  // Partition after partition is one visit.
  if (!model->visits.empty()) {
    VisitRecord& last = model->visits.back();
    if (last.hop == model->hop && last.kind == visit.kind && last.split == visit.split &&
        last.iteration == visit.iteration) {
      last.n_partitions += visit.n_partitions;
      last.train += visit.train;
      last.evaluate += visit.evaluate;
      return;
    }
  }
  visit.mst_key = model->key;
  visit.worker = key_;
  visit.hop = model->hop;
  visit.started = MonotonicSeconds() - started_ - visit.train - visit.evaluate;
  visit.wait = std::max(visit.started, 0.0);
  // What this segment did for the model just before was no waiting.
  for (const VisitRecord& other : model->visits) {
    if (other.hop == visit.hop) visit.wait -= other.wait + other.train + other.evaluate;
  }
  visit.wait = std::max(visit.wait, 0.0);
  model->visits.push_back(visit);
}

bool Group::BeginVisit(Traveller* model, int partition, VisitBegun* begun) const {
  const Trainer& trainer = *model->trainer;
  if (!model->has_state) {
    InitialWeights alone;
    if (!trainer.MakeState(&alone, cancel_, numerics_class_, &model->state)) return false;
    model->has_state = true;
  }
  begun->examples_before = model->state.examples;
  begun->visit.kind = VisitKind::kTrain;
  begun->visit.split = kTrainSplit;
  begun->visit.iteration = static_cast<int32_t>(model->total_iterations) + 1;
  begun->visit.first_partition = partition;
  begun->metrics = model->rules.TakesRunningMetrics(model->course.iterations + 1);
  return true;
}

void Group::EndVisit(Traveller* model, const VisitBegun& begun, VisitEnd end,
                     const MetricSums& sums, double seconds) const {
  if (end == VisitEnd::kCancelled) return;
  VisitRecord visit = begun.visit;
  visit.n_partitions = end == VisitEnd::kDone ? 1 : 0;
  visit.train = seconds;
  RecordVisit(visit, model);
  model->seconds_training += seconds;
  model->examples += model->state.examples - begun.examples_before;
  if (end == VisitEnd::kNotFinite) {
    Fail(model, NotFinite(*model->trainer, sums.loss, model->state));
    return;
  }
  model->running.Add(sums);
  if (hopper::EndVisit(model->rules, model->watching, &model->course)) FinishIteration(model);
}

void Group::Train(Traveller* model, int partition) const {
  const Stopwatch watch;
  VisitBegun begun;
  if (!BeginVisit(model, partition, &begun)) return;
  MetricSums sums;
  const VisitEnd end = model->trainer->Visit(&model->state, train_.partition(partition), partition,
                                             cancel_, &sums, begun.metrics);
  EndVisit(model, begun, end, sums, watch.Seconds());
}

void Group::FinishIteration(Traveller* model) const {
  model->total_iterations = ++model->state.iteration;
  model->observed = Observed();
  if (model->rules.TakesRunningMetrics(model->course.iterations)) {
    PushMetrics(model, kTrainSplit, true, model->running);
  }
  model->running = MetricSums();
  model->passed.clear();
  AlignedArray<float> weights;
  if (model->course.deciding && model->watching.restores) {
    weights = model->trainer->KeptWeights(model->state);
  }
  Decide(model, weights.data());
  model->evaluating = WantsPass(*model, kTrainSplit) || WantsPass(*model, kValidSplit);
  if (!model->evaluating) FollowReports(model);
}

// Once all is known that the model's rules watch; `weights` are those that were evaluated.
void Group::Decide(Traveller* model, const float* weights) const {
  if (!model->course.deciding || !model->observed.Knows(model->watching)) return;
  model->trainer->stopping().Decide(model->total_iterations, model->observed, weights,
                                    model->state.params.size(), &model->state.monitor);
  const bool stops = Stopping::Stopped(model->state.monitor);
  if (stops) Stop(model);
  hopper::Decide(stops, &model->course);
}

void Group::Stop(Traveller* model) const {
  model->course.stopped = true;
  Event event;
  event.type = EventType::kModelStopped;
  event.mst_key = model->key;
  event.iteration = static_cast<int32_t>(model->total_iterations);
  event.problem.message = model->trainer->stopping().Reason(model->state.monitor);
  model->events.push_back(std::move(event));
}

// All that was ordered is reported.
void Group::FollowReports(Traveller* model) const {
  if (WhatFollows(model->rules, model->watching, model->course, DeliveredHere(*model)) !=
      AfterReports::kFinalPass) {
    return;
  }
  model->course.final_pass = true;
  model->evaluating = true;
}

const float* Group::EvaluatedWeights(const Traveller& model, AlignedArray<float>* copy) const {
  if (DeliversBest(model)) return model.state.monitor.best_weights.data();
  if (!model.trainer->compile().optimizer.use_ema) return model.state.params.data();
  *copy = model.trainer->KeptWeights(model.state);
  return copy->data();
}

void Group::RecordEvaluation(int split, int first_partition, int32_t n, double seconds,
                             Traveller* model) const {
  VisitRecord visit;
  visit.kind = VisitKind::kEvaluate;
  visit.split = split;
  visit.iteration = static_cast<int32_t>(model->total_iterations);
  visit.first_partition = first_partition;
  visit.n_partitions = n;
  visit.evaluate = seconds;
  RecordVisit(visit, model);
  model->seconds_evaluating += seconds;
}

void Group::Evaluate(Traveller* model, const std::vector<std::pair<int, int>>& partitions) const {
  Stopwatch watch;
  AlignedArray<float> copy;
  const float* weights = EvaluatedWeights(*model, &copy);
  const std::optional<Digest>& frozen = model->trainer->FrozenOf(&model->state);
  for (const auto& [split, p] : partitions) {
    MetricSums sums;
    if (model->trainer->Evaluate(weights, DataOf(split).partition(p), cancel_, &sums, frozen) !=
        VisitEnd::kDone) {
      return;
    }
    model->passed[{split, p}] = std::move(sums);
    RecordEvaluation(split, p, 1, watch.Seconds(), model);
    watch.Restart();
  }
  FinishPasses(model, weights);
}

// Reports the iteration's evaluations where all are there; `weights` are those evaluated.
void Group::FinishPasses(Traveller* model, const float* weights) const {
  size_t wanted = 0;
  for (const int split : kSplits) {
    if (WantsPass(*model, split)) {
      wanted += static_cast<size_t>(DataOf(split).n_partitions());
    }
  }
  if (model->passed.size() < wanted) return;  // others are elsewhere, or not in memory
  for (const int split : kSplits) {
    if (!WantsPass(*model, split)) continue;
    MetricSums total;
    for (int p = 0; p < DataOf(split).n_partitions(); ++p) total.Add(model->passed[{split, p}]);
    PushMetrics(model, split, false, total);
    Decide(model, weights);
  }
  model->passed.clear();
  model->evaluating = false;
  FollowReports(model);
}

void Group::PushMetrics(Traveller* model, int split, bool running, const MetricSums& sums) const {
  Event event;
  event.type = EventType::kMetrics;
  event.mst_key = model->key;
  const int64_t iteration =
      DeliversBest(*model) ? model->state.monitor.best_iteration : model->total_iterations;
  event.iteration = static_cast<int32_t>(iteration);
  event.split = split;
  event.running = running;
  model->trainer->Finish(sums, &event.loss, &event.metrics);
  if (model->course.deciding) {
    model->observed.splits[static_cast<size_t>(split)] = {true, event.loss, event.metrics};
  }
  model->events.push_back(std::move(event));
}

void Group::Fail(Traveller* model, const Problem& problem) const {
  model->status = ModelStatus::kFailed;
  model->failure = problem;
  model->evaluating = false;
  model->passed.clear();
  model->state = ModelState();
  model->has_state = false;
  Event event;
  event.type = EventType::kModelFailed;
  event.mst_key = model->key;
  event.iteration = static_cast<int32_t>(model->total_iterations);
  event.problem = problem;
  model->events.push_back(std::move(event));
}

// Where the model has to go: to its next partition, or to data that it is not evaluated on yet.
int32_t Group::NextKey(const Traveller& model) const {
  if (model.status == ModelStatus::kFailed) return key_;
  if (!model.evaluating) {
    if (!HasVisits(model.rules, model.course)) return key_;
    return keys_
        .of[kTrainSplit][static_cast<size_t>(ring_.PartitionOf(model.key, model.course.visit))];
  }
  const auto lacks = [&](int32_t key) {
    for (const int split : kSplits) {
      if (!WantsPass(model, split)) continue;
      const std::vector<int32_t>& keys = KeysOf(split);
      for (size_t p = 0; p < keys.size(); ++p) {
        if (keys[p] == key && model.passed.count({split, static_cast<int32_t>(p)}) == 0)
          return true;
      }
    }
    return false;
  };
  // Models spread over all segments.
  return NextToEvaluate(all_keys_, key_, lacks);
}

void Group::WorkerWarning(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Problem problem;
  if (warnings_.IsNew(text, &problem)) told_.push_back(std::move(problem));
}

}  // namespace hopper
