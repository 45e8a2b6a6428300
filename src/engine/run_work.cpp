// What the workers of a run do.
#include <algorithm>

#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/failure.h"
#include "engine/not_finite.h"
#include "engine/run.h"

namespace hopper {

namespace {

// A run tells each warning of libtorch once, and not more than these.
constexpr size_t kMaxWarnings = 20;
// So many visits wake the reader, who takes them with the next event otherwise.
constexpr size_t kManyVisits = 4096;

}  // namespace

const Dataset& Run::DataOf(hopper_split split) const {
  return split == HOPPER_SPLIT_VALID ? *valid_ : train_;
}

bool Run::IsMetricsIteration(int32_t iteration) const {
  return iteration == num_iterations_ || iteration % metrics_frequency_ == 0;
}

void Run::Work(int worker) {
  std::unique_lock<std::mutex> lock(mutex_);
  double free_since = MonotonicSeconds();
  try {
    while (!cancel_.load()) {
      Task task;
      task.worker = worker;
      if (!NextTaskLocked(&task, kNoDevice)) {
        if (!AnyLeftLocked()) break;
        TensorMemoryScope::Trim();  // others may need it meanwhile
        wake_.wait(lock);
        free_since = MonotonicSeconds();
        continue;
      }
      const int64_t bytes = task.model->memory.task;
      task_bytes_ += bytes;
      ++tasks_;
      task.moved = task.started - free_since;
      seconds_hop_ += task.moved;
      lock.unlock();
      if (task.pass != nullptr) {
        EvaluateTask(task);
      } else {
        TrainTask(task);
      }
      free_since = MonotonicSeconds();
      // A cache that was filled by one model must not starve the next.
      if (account_->used() > account_->limit() / 2) TensorMemoryScope::Trim();
      lock.lock();
      seconds_busy_ += free_since - task.started;
      task_bytes_ -= bytes;
      --tasks_;
      PinLocked(task, false);
      RequestLoadLocked();
      wake_.notify_all();
    }
  } catch (...) {
    // Only the bookkeeping above can bring us here, for lack of memory.
    if (!lock.owns_lock()) lock.lock();
    out_of_memory_ = true;
    cancel_.store(true);
  }
  EndWorkerLocked();
}

void Run::EndWorkerLocked() {
  wake_.notify_all();
  if (--running_workers_ > 0) return;
  end_time_ = MonotonicSeconds();
  events_.PushLast(NewEventLocked(HOPPER_EVENT_FINISHED, nullptr));
}

bool Run::AnyLeftLocked() const {
  return std::any_of(models_.begin(), models_.end(),
                     [](const auto& model) { return model->status == HOPPER_MODEL_TRAINING; });
}

std::shared_ptr<Run::EvaluationPass> Run::OpenPassLocked(const Model& model) const {
  for (const auto& pass : model.passes) {
    if (pass->untaken > 0 && NextOfPassLocked(*pass) >= 0) return pass;
  }
  return nullptr;
}

void Run::TakeWholePassLocked(EvaluationPass* pass) {
  pass->taken.assign(pass->taken.size(), true);
  pass->untaken = 0;
}

bool Run::TrainsNextLocked(const Model& model) const {
  return model.admitted && !model.awaits_state && !model.busy && !model.deciding &&
         model.iterations < model.target && HasRoomForVisitLocked(model) &&
         IsLoadedLocked(HOPPER_SPLIT_TRAIN, ring_.PartitionOf(model.key, model.visit));
}

void Run::TakeVisitLocked(Task* task) {
  task->model->busy = true;
  CountSnapshotsLocked(task->model);
  task->wait = task->started - task->model->ready_since;
  task->model->seconds_waiting += task->wait;
}

bool Run::NextTaskLocked(Task* task, int device) {
  Model* best = nullptr;
  std::shared_ptr<EvaluationPass> best_pass;
  for (const auto& model : models_) {
    if (model->status != HOPPER_MODEL_TRAINING || model->device != device) continue;
    if (best != nullptr && best->work >= model->work) continue;
    // Where memory is short, tasks wait for one another.
    if (!HasRoomForTaskLocked(*model)) continue;
    std::shared_ptr<EvaluationPass> pass = OpenPassLocked(*model);
    if (pass == nullptr && !TrainsNextLocked(*model)) continue;
    best = model.get();
    best_pass = std::move(pass);
  }
  if (best == nullptr) return false;
  task->model = best;
  task->started = MonotonicSeconds();
  if (best_pass != nullptr) {
    // Before its next visit, so that snapshots of one model do not pile up.
    task->partition = NextOfPassLocked(*best_pass);
    best_pass->taken[static_cast<size_t>(task->partition)] = true;
    --best_pass->untaken;
    task->wait = task->started - best_pass->ready_since;
    task->pass = std::move(best_pass);
    PinLocked(*task, true);
    return true;
  }
  TakeVisitLocked(task);
  task->partition = ring_.PartitionOf(best->key, best->visit);
  PinLocked(*task, true);
  return true;
}

int32_t Run::NextVisits(hopper_visit* visits, int32_t n) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int32_t taken = 0;
  for (; taken < n && !visits_.empty(); ++taken) {
    visits[taken] = visits_.front();
    visits_.pop_front();
  }
  return taken;
}

void Run::RecordVisitLocked(const Task& task, hopper_visit visit) {
  visit.mst_key = task.model->key;
  visit.worker = task.worker;
  visit.n_partitions = 1;
  visit.started = task.started - start_time_;
  // What the worker did between its tasks is not what the model waited for.
  visit.moved = std::min(task.moved, task.wait);
  visit.wait = task.wait - visit.moved;
  visits_.push_back(visit);
  if (visits_.size() % kManyVisits == 0) events_.Wake();
}

void Run::TrainTask(const Task& task) {
  // `busy` makes this worker the only one that touches the state and the place in the schedule.
  const Stopwatch watch;
  Model* model = task.model;
  VisitOutcome outcome;
  outcome.examples_before = model->state.examples;
  const int partition = ring_.PartitionOf(model->key, model->visit);
  try {
    if (!model->has_state) {
      model->state = model->trainer->InitialState(model->given_weights, numerics_class_);
      model->has_state = true;
    }
    outcome.end =
        model->trainer->Visit(&model->state, train_.partition(partition), partition, cancel_,
                              &outcome.sums, TakesRunningMetrics(model->iterations + 1));
    if (outcome.end == VisitEnd::kDone) outcome.snapshot = SnapshotAfterVisit(model);
  } catch (...) {
    outcome.failed = true;
    outcome.problem = DescribeException();
  }
  outcome.seconds = watch.Seconds();
  FinishVisit(task, std::move(outcome));
}

bool Run::TakesRunningMetrics(int32_t iteration) const {
  return training_metrics_ != HOPPER_METRICS_EVERY && IsMetricsIteration(iteration);
}

// The weights to evaluate, where the visit that the model has just made ends an iteration and
// somebody wants to know.
std::shared_ptr<const Run::Snapshot> Run::SnapshotAfterVisit(const Model* model) const {
  if (!EndsWithSnapshot(*model)) return nullptr;
  return std::make_shared<const Snapshot>(model->trainer->KeptWeights(model->state));
}

void Run::FinishVisit(const Task& task, VisitOutcome outcome) {
  Model* model = task.model;
  if (outcome.end == VisitEnd::kNotFinite) {
    outcome.failed = true;
    outcome.problem = NotFinite(*model->trainer, outcome.sums.loss, model->state);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  hopper_visit visit = {};
  visit.kind = HOPPER_VISIT_TRAIN;
  visit.split = HOPPER_SPLIT_TRAIN;
  visit.iteration = static_cast<int32_t>(model->total_iterations) + 1;
  visit.first_partition = ring_.PartitionOf(model->key, model->visit);
  visit.train = outcome.seconds;
  RecordVisitLocked(task, visit);
  model->seconds_training += outcome.seconds;
  model->examples += model->state.examples - outcome.examples_before;
  model->busy = false;
  model->ready_since = MonotonicSeconds();
  if (model->status == HOPPER_MODEL_FAILED) {  // an evaluation of it failed meanwhile
    ReleaseIfIdleLocked(model);
    return;
  }
  if (outcome.failed) {
    FailLocked(model, std::move(outcome.problem));
    return;
  }
  if (outcome.end == VisitEnd::kCancelled) return;
  model->running.Add(outcome.sums);
  model->work -= VisitWork(*model);
  if (++model->visit == train_.n_partitions()) FinishIterationLocked(model, outcome.snapshot);
  CountSnapshotsLocked(model);
  TravelLocked(*model);
}

// Which iteration is the last one of a model that watches its metrics, and which weights it
// delivers, is decided by them: its final pass comes after all others (CheckDoneLocked).
bool Run::WantsPass(const Model& model, hopper_split split, int32_t iteration) const {
  if (!IsMetricsIteration(iteration)) return false;
  if (split == HOPPER_SPLIT_VALID) return valid_ != nullptr;
  return training_metrics_ == HOPPER_METRICS_EVERY ||
         (training_metrics_ == HOPPER_METRICS_FINAL && iteration == num_iterations_ &&
          !model.trainer->stopping().active());
}

void Run::FinishIterationLocked(Model* model, const std::shared_ptr<const Snapshot>& snapshot) {
  model->visit = 0;
  model->total_iterations = ++model->state.iteration;
  const int32_t iteration = ++model->iterations;
  model->deciding = model->trainer->stopping().active() && IsMetricsIteration(iteration);
  model->observed = Observed();
  if (training_metrics_ != HOPPER_METRICS_EVERY && IsMetricsIteration(iteration)) {
    PushMetricsLocked(model, model->total_iterations, HOPPER_SPLIT_TRAIN, true, model->running,
                      model->state.params.data());
  }
  for (const hopper_split split : {HOPPER_SPLIT_TRAIN, HOPPER_SPLIT_VALID}) {
    if (WantsPass(*model, split, iteration)) AddPassLocked(model, split, snapshot);
  }
  model->running = MetricSums();
  DecideLocked(model, snapshot == nullptr ? nullptr : snapshot->weights.data());
  ReportPassesLocked(model);
}

void Run::AddPassLocked(Model* model, hopper_split split,
                        std::shared_ptr<const Snapshot> snapshot) {
  const Dataset& data = DataOf(split);
  auto pass = std::make_shared<EvaluationPass>();
  pass->iteration = model->iterations;
  pass->total_iteration = static_cast<int32_t>(model->total_iterations);
  pass->split = split;
  pass->snapshot = std::move(snapshot);
  pass->sums.resize(static_cast<size_t>(data.n_partitions()));
  pass->taken.resize(pass->sums.size(), false);
  pass->untaken = data.n_partitions();
  pass->unfinished = data.n_partitions();
  if (window_ != nullptr) {
    for (int p = 0; p < data.n_partitions(); ++p) window_->Want(split, p);
  }
  pass->ready_since = MonotonicSeconds();
  model->passes.push_back(std::move(pass));
  model->work += PassWork(*model, data);
}

void Run::EvaluateTask(const Task& task) {
  const Stopwatch watch;
  Model* model = task.model;
  EvaluationPass& pass = *task.pass;
  MetricSums sums;
  VisitEnd end = VisitEnd::kCancelled;
  Problem problem;
  bool failed = false;
  try {
    const Dataset& data = DataOf(pass.split);
    end = model->trainer->Evaluate(pass.snapshot->weights.data(), data.partition(task.partition),
                                   cancel_, &sums);
  } catch (...) {
    failed = true;
    problem = DescribeException();
  }

  const std::lock_guard<std::mutex> lock(mutex_);
  hopper_visit visit = {};
  visit.kind = HOPPER_VISIT_EVALUATE;
  visit.split = pass.split;
  visit.iteration = pass.total_iteration;
  visit.first_partition = task.partition;
  visit.evaluate = watch.Seconds();
  RecordVisitLocked(task, visit);
  model->seconds_evaluating += visit.evaluate;
  if (end == VisitEnd::kCancelled && !failed) return;
  if (model->status != HOPPER_MODEL_TRAINING) return;
  if (failed) {
    FailLocked(model, std::move(problem));
    return;
  }
  pass.sums[static_cast<size_t>(task.partition)] = std::move(sums);
  --pass.unfinished;
  model->work -= PassWork(*model, DataOf(pass.split)) / static_cast<double>(pass.sums.size());
  ReportPassesLocked(model);
  TravelLocked(*model);
}

// Reports the passes that are complete, in their order.
void Run::ReportPassesLocked(Model* model) {
  while (!model->passes.empty() && model->passes.front()->unfinished == 0) {
    const std::shared_ptr<EvaluationPass> pass = std::move(model->passes.front());
    model->passes.pop_front();
    MetricSums total;
    for (const MetricSums& sums : pass->sums) total.Add(sums);
    PushMetricsLocked(model, pass->total_iteration, pass->split, false, total,
                      pass->snapshot->weights.data());
    DecideLocked(model, pass->snapshot->weights.data());
  }
  model->reported =
      model->passes.empty() ? model->iterations : model->passes.front()->iteration - 1;
  CountSnapshotsLocked(model);
  AnnounceIterationsLocked();
  CheckDoneLocked(model);
}

// Once all is known that the model's rules watch; `weights` are those that were evaluated.
void Run::DecideLocked(Model* model, const float* weights) {
  if (!model->deciding) return;
  const Stopping& stopping = model->trainer->stopping();
  for (const hopper_split split : {HOPPER_SPLIT_TRAIN, HOPPER_SPLIT_VALID}) {
    if (stopping.Watches(split == HOPPER_SPLIT_VALID) && !model->observed.splits[split].known) {
      return;
    }
  }
  model->deciding = false;
  // No worker has the state: none may take the model while it is deciding.
  stopping.Decide(model->total_iterations, model->observed, weights, model->state.params.size(),
                  &model->state.monitor);
  if (Stopping::Stopped(model->state.monitor)) StopLocked(model);
}

void Run::StopLocked(Model* model) {
  model->work -= VisitWork(*model) * train_.n_partitions() * (model->target - model->iterations);
  model->target = model->iterations;
  hopper_event event = NewEventLocked(HOPPER_EVENT_MODEL_STOPPED, model);
  event.iteration = static_cast<int32_t>(model->total_iterations);
  CopyText(model->trainer->stopping().Reason(model->state.monitor), event.message);
  events_.Push(event);
}

void Run::CheckDoneLocked(Model* model) {
  if (model->status != HOPPER_MODEL_TRAINING || model->reported < model->target) return;
  if (training_metrics_ == HOPPER_METRICS_FINAL && model->trainer->stopping().active() &&
      model->iterations > 0 && !model->final_pass) {
    model->final_pass = true;
    int64_t iteration = 0;
    AddPassLocked(model, HOPPER_SPLIT_TRAIN,
                  std::make_shared<const Snapshot>(
                      model->trainer->DeliveredWeights(model->state, &iteration)));
    model->passes.back()->total_iteration = static_cast<int32_t>(iteration);
    return;
  }
  model->status = HOPPER_MODEL_DONE;
  hopper_model_result result = {};
  SetStopping(*model->trainer, model->state, &result);
  model->ended = {result.stopped, result.best_iteration, result.kept_iteration,
                  result.learning_rate};
  model->state_size =
      StateWriter(StateLayoutOf(model->trainer->network().spec()), model->state).size();
  hopper_event event = NewEventLocked(HOPPER_EVENT_MODEL_DONE, model);
  event.iteration = static_cast<int32_t>(model->total_iterations);
  event.take = AnyWaitsLocked() ? 1 : 0;
  events_.Push(event);
  EndLocked(model);
}

void Run::FailLocked(Model* model, Problem problem) {
  if (model->status == HOPPER_MODEL_TRAINING) --live_;
  model->status = HOPPER_MODEL_FAILED;
  model->failure = std::move(problem);
  DropPassesLocked(model);
  TravelLocked(*model);
  EndLocked(model);
  ReleaseIfIdleLocked(model);
  hopper_event event = NewEventLocked(HOPPER_EVENT_MODEL_FAILED, model);
  event.iteration = static_cast<int32_t>(model->total_iterations);
  SetProblem(model->failure, &event);
  events_.Push(event);
  AnnounceIterationsLocked();
}

void Run::AnnounceIterationsLocked() {
  if (live_ == 0) return;
  int32_t finished = num_iterations_;
  int64_t before = 0;
  for (const auto& model : models_) {
    if (model->status == HOPPER_MODEL_FAILED) continue;
    // Who was stopped has finished all of them.
    const bool ended = model->reported >= model->target;
    finished = std::min(finished, ended ? num_iterations_ : model->reported);
    before = std::max(before, model->total_iterations - model->iterations);
  }
  while (announced_ < finished) {
    ++announced_;
    hopper_event event = NewEventLocked(HOPPER_EVENT_ITERATION, nullptr);
    event.iteration = static_cast<int32_t>(before + announced_);
    events_.Push(event);
  }
}

hopper_event Run::NewEventLocked(hopper_event_type type, const Model* model) const {
  hopper_event event = {};
  event.type = type;
  event.mst_key = model == nullptr ? 0 : model->key;
  event.n_live = live_;
  event.elapsed = started_ ? MonotonicSeconds() - start_time_ : 0.0;
  return event;
}

void Run::PushMetricsLocked(Model* model, int64_t iteration, hopper_split split, bool running,
                            const MetricSums& sums, const float* weights) {
  hopper_event event = NewEventLocked(HOPPER_EVENT_METRICS, model);
  event.iteration = static_cast<int32_t>(iteration);
  event.split = split;
  event.running = running ? 1 : 0;
  std::vector<double> metrics;
  model->trainer->Finish(sums, weights, &event.loss, &metrics);
  event.n_metrics = static_cast<int32_t>(metrics.size());
  std::copy(metrics.begin(), metrics.end(), event.metrics);
  events_.Push(event);
  if (!model->deciding || iteration != model->total_iterations) return;
  model->observed.splits[split] = {true, event.loss, std::move(metrics)};
}

void Run::Warn(int32_t mst_key, const Problem& problem) {
  hopper_event event = NewEventLocked(HOPPER_EVENT_WARNING, nullptr);
  event.mst_key = mst_key;
  SetProblem(problem, &event);
  events_.Push(event);
}

void Run::WorkerWarning(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (warnings_.size() >= kMaxWarnings || !warnings_.insert(text).second) return;
  Problem problem;
  problem.message = "libtorch: " + text.substr(0, text.find('\n'));
  Warn(0, problem);
}

}  // namespace hopper
