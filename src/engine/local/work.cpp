// What the workers of a run do.
#include <algorithm>
#include <exception>
#include <new>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/local/run.h"
#include "engine/not_finite.h"
#include "engine/task_work.h"

namespace hopper {

void Run::Work(int worker) {
  const CancelScope cancels(cancel_);
  std::unique_lock<std::mutex> lock(mutex_);
  Turn turn(turns_.get());
  double free_since = MonotonicSeconds();
  try {
    while (!cancel_.load()) {
      Task task;
      task.worker = worker;
      if (!NextTaskLocked(&task, kNoDevice)) {
        if (!AnyLeftLocked()) break;
        turn.End();
        idle_.Wait(&lock);
        free_since = MonotonicSeconds();
        continue;
      }
      const int64_t bytes = task.model->memory.task;
      MemoryScope::Promise(bytes);  // under the lock: what is given back is promised anew
      tasks_.Begin(bytes);
      ++tally_.tasks;
      task.hopping = task.started - free_since;
      tally_.seconds_hop += task.hopping;
      WakeNextLocked();
      const double work = task.model->work;
      lock.unlock();
      turn.Begin(work, cancel_);
      const double waited = MonotonicSeconds() - task.started;
      task.started += waited;
      task.wait += waited;
      if (task.pass != nullptr) {
        EvaluateTask(task);
      } else {
        TrainTask(task);
      }
      free_since = MonotonicSeconds();
      lock.lock();
      tally_.seconds_busy += free_since - task.started;
      tasks_.End(bytes);
      PinLocked(task, false);
      RequestLoadLocked();
    }
  } catch (...) {
    // Only the bookkeeping can bring us here, for lack of memory.
    if (!lock.owns_lock()) lock.lock();
    LoseBooksLocked();
  }
  EndWorkerLocked();
}

void Run::LoseBooksLocked() noexcept {
  books_lost_ = true;
  StopWorkersLocked();
}

void Run::StopWorkersLocked() noexcept {
  cancel_.store(true);
  idle_.WakeAll();
  turns_->WakeAll();
}

Run::Books::Books(Run* run)
    : run_(run), exceptions_(std::uncaught_exceptions()), lock_(run->mutex_, std::defer_lock) {
  lock();
}

Run::Books::~Books() {
  if (lock_.owns_lock() && std::uncaught_exceptions() > exceptions_) run_->LoseBooksLocked();
}

void Run::Books::lock() {
  lock_.lock();
  if (!run_->books_lost_) return;
  lock_.unlock();
  throw std::bad_alloc();
}

void Run::EndWorkerLocked() {
  idle_.WakeAll();
  if (--running_workers_ > 0) return;
  end_time_ = MonotonicSeconds();
  events_.PushLast(NewEventLocked(EventType::kFinished, nullptr));
}

int64_t Run::RoomForTaskLocked() const { return tasks_.RoomOf(budget() - resident_); }

bool Run::ReadyLocked(const Model& model) const {
  return model.status == ModelStatus::kTraining &&
         (OpenPassLocked(model) != nullptr || TrainsNextLocked(model));
}

void Run::UpdateLocked(Model* model) {
  TravelLocked(*model);
  DueModels& due = DueOn(model->device);
  if (!ReadyLocked(*model)) {
    due.Remove(model->index);
  } else if (model->device == kNoDevice) {
    due.Set(model->index, model->work);
  } else {
    due.Set(model->index, model->work, WorkOf(*model, OpenPassLocked(*model).get()));
  }
}

void Run::WakeNextLocked() {
  if (!devices_.empty()) {
    idle_.WakeAll();  // each waits for models of its own
  } else {
    idle_.WakeNext(DueOn(kNoDevice).ready(), RoomForTaskLocked());
  }
}

// Nobody takes what there is to tell: it must not eat the memory.
bool Run::ReaderIsBehindLocked() const { return visits_.IsFull() || events_.IsFull(); }

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
  return model.admitted && !model.stored.awaited && !model.busy && !model.course.deciding &&
         !HaltsHere(model) && HasVisits(model.rules, model.course) &&
         HasRoomForVisitLocked(model) &&
         IsLoadedLocked(kTrainSplit, ring_.PartitionOf(model.key, model.course.visit));
}

void Run::TakeVisitLocked(Task* task) {
  task->model->busy = true;
  CountSnapshotsLocked(task->model);
  task->wait = task->started - task->model->ready_since;
}

int Run::VisitsTogetherLocked(const Model& model) const {
  if (window_ != nullptr || model.device != kNoDevice) return 1;
  return VisitsTogether(model.rules, model.watching, model.course,
                        VisitsTogether(*model.trainer, data_.train().desc()),
                        !model.passes.empty());
}

// From the first one on, partitions that nobody has taken.
int Run::PartitionsTogetherLocked(const Model& model, const EvaluationPass& pass, int first) const {
  if (window_ != nullptr || model.device != kNoDevice) return 1;
  const auto n = static_cast<int>(pass.taken.size());
  const int most =
      std::min(EvaluationsTogether(*model.trainer, data_.of(pass.split).desc()), n - first);
  int count = 1;
  while (count < most && !pass.taken[static_cast<size_t>(first) + static_cast<size_t>(count)])
    ++count;
  return count;
}

bool Run::NextTaskLocked(Task* task, int device) {
  if (ReaderIsBehindLocked()) return false;
  for (;;) {
    const int64_t at = DueOn(device).ready().Best(RoomForTaskLocked());
    if (at < 0) return false;
    Model* model = models_[static_cast<size_t>(at)].get();
    std::shared_ptr<EvaluationPass> pass = OpenPassLocked(*model);
    if (pass == nullptr && !TrainsNextLocked(*model)) {
      UpdateLocked(model);  // there was room for its snapshot once
      continue;
    }
    task->model = model;
    task->started = MonotonicSeconds();
    if (pass != nullptr) {
      // Before its next visit, so that snapshots of one model do not pile up.
      task->partition = NextOfPassLocked(*pass);
      task->count = PartitionsTogetherLocked(*model, *pass, task->partition);
      std::fill_n(pass->taken.begin() + task->partition, task->count, true);
      while (pass->first < pass->taken.size() && pass->taken[pass->first]) ++pass->first;
      pass->untaken -= task->count;
      task->wait = task->started - pass->ready_since;
      task->pass = std::move(pass);
    } else {
      task->count = VisitsTogetherLocked(*model);
      TakeVisitLocked(task);
      task->partition = ring_.PartitionOf(model->key, model->course.visit);
    }
    PinLocked(*task, true);
    UpdateLocked(model);
    return true;
  }
}

std::vector<VisitRecord> Run::NextVisits(size_t n) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool behind = ReaderIsBehindLocked();
  std::vector<VisitRecord> taken = visits_.Take(n);
  if (behind && !ReaderIsBehindLocked()) idle_.WakeAll();
  return taken;
}

// So many seconds after the task's begin.
void Run::RecordVisitLocked(const Task& task, VisitRecord visit, double after) {
  visit.mst_key = task.model->key;
  visit.worker = task.worker;
  visit.n_partitions = 1;
  visit.started = task.started + after - start_time_;
  if (after == 0.0) {
    // What the worker did between its tasks is not what the model waited for.
    visit.hopping = std::min(task.hopping, task.wait);
    visit.wait = task.wait - visit.hopping;
  }
  if (visits_.Add(visit)) events_.Wake();
}

bool Run::HasState(Model* model) {
  if (!model->has_state && model->given_weights != nullptr) {
    model->state =
        model->trainer->InitialState(model->given_weights, settings_.ClassOf(*model->trainer));
    model->has_state = true;
  }
  if (!model->has_state) {
    model->has_state = model->trainer->MakeState(&initial_weights_, cancel_,
                                                 settings_.ClassOf(*model->trainer), &model->state);
  }
  return model->has_state;
}

void Run::TrainTask(const Task& task) {
  // `busy` makes this worker the only one that touches the state and the place in the schedule.
  Model* model = task.model;
  VisitOutcome outcome;
  outcome.examples_before = model->state.examples;
  Stopwatch watch;
  try {
    const bool has_state = HasState(model);
    Course course = model->course;
    for (int visit = 0; visit < task.count; ++visit, ++course.visit) {
      if (visit > 0) {
        if (outcome.end != VisitEnd::kDone) break;
        model->running.Add(outcome.sums);
        outcome.sums = MetricSums();
      }
      outcome.end = VisitEnd::kCancelled;
      if (has_state) {
        const int partition = ring_.PartitionOf(model->key, course.visit);
        outcome.end = model->trainer->Visit(
            &model->state, data_.train().partition(partition), partition, cancel_, &outcome.sums,
            model->rules.TakesRunningMetrics(course.iterations + 1));
      }
      if (outcome.end == VisitEnd::kDone) outcome.snapshot = SnapshotAfterVisit(*model, course);
      outcome.laps.Add(watch.Lap());
    }
  } catch (const Cancelled&) {
    outcome.end = VisitEnd::kCancelled;
    outcome.laps.Add(watch.Lap());
  } catch (...) {
    outcome.failure = backend_.Describe();
    outcome.laps.Add(watch.Lap());
  }
  FinishVisit(task, std::move(outcome));
}

// The weights to evaluate, where the visit that the model has just made ends an iteration and
// somebody wants to know.
std::shared_ptr<const Run::Snapshot> Run::SnapshotAfterVisit(const Model& model,
                                                             const Course& course) {
  if (!EndsWithSnapshot(model, course)) return nullptr;
  return std::make_shared<const Snapshot>(model.trainer->KeptWeights(model.state),
                                          model.state.frozen);
}

void Run::FinishVisit(const Task& task, VisitOutcome outcome) {
  Model* model = task.model;
  const int last = outcome.laps.n - 1;
  if (outcome.end == VisitEnd::kNotFinite) {
    outcome.failure = NotFinite(*model->trainer, outcome.sums.loss, model->state);
  }
  if (outcome.end == VisitEnd::kDone && !outcome.failure.has_value()) {
    try {
      model->running.Add(outcome.sums);
      Course course = model->course;
      course.visit += last;
      outcome.reports = EndsIteration(model->rules, course) &&
                        model->rules.TakesRunningMetrics(course.iterations + 1);
      if (outcome.reports) {
        outcome.report = ReportOf(*model, model->running);
      }
    } catch (...) {
      outcome.failure = backend_.Describe();
    }
  }
  Books books(this);
  VisitRecord visit;
  visit.kind = VisitKind::kTrain;
  visit.split = kTrainSplit;
  visit.iteration = static_cast<int32_t>(model->total_iterations) + 1;
  double after = 0.0;
  for (int i = 0; i <= last; ++i) {
    visit.first_partition = ring_.PartitionOf(model->key, model->course.visit);
    visit.train = outcome.laps.seconds[static_cast<size_t>(i)];
    RecordVisitLocked(task, visit, after);
    after += visit.train;
    if (i == last) break;
    model->work -= VisitWork(*model->trainer, data_.train().desc());
    EndVisit(model->rules, model->watching, &model->course);
  }
  model->spent.seconds_waiting += task.wait;
  model->spent.seconds_training += after;
  model->spent.examples += model->state.examples - outcome.examples_before;
  model->busy = false;
  model->ready_since = MonotonicSeconds();
  if (model->status == ModelStatus::kFailed) {  // an evaluation of it failed meanwhile
    ReleaseIfIdleLocked(model);
    return;
  }
  if (outcome.failure.has_value()) {
    FailLocked(model, *std::move(outcome.failure));
    return;
  }
  if (outcome.end == VisitEnd::kCancelled) return;
  model->work -= VisitWork(*model->trainer, data_.train().desc());
  if (EndVisit(model->rules, model->watching, &model->course)) {
    FinishIterationLocked(model, &outcome);
    Settle(model, &books);
  }
  CountSnapshotsLocked(model);
  UpdateLocked(model);
}

void Run::FinishIterationLocked(Model* model, VisitOutcome* outcome) {
  model->total_iterations = ++model->state.iteration;
  model->observed = Observed();
  if (model->course.deciding) model->evaluated = outcome->snapshot;
  if (outcome->reports) {
    PushMetricsLocked(model, model->total_iterations, kTrainSplit, true,
                      std::move(outcome->report));
  }
  AddPassesLocked(model, model->course.iterations, outcome->snapshot);
  outcome->snapshot.reset();
  model->running = MetricSums();
}

void Run::AddPassesLocked(Model* model, int32_t delivered,
                          const std::shared_ptr<const Snapshot>& snapshot) {
  const std::array<bool, 2> ordered =
      Ordered(model->rules, model->watching, model->course, delivered);
  for (const int split : kSplits) {
    if (ordered[static_cast<size_t>(split)]) AddPassLocked(model, split, snapshot);
  }
}

void Run::AddPassLocked(Model* model, int split, std::shared_ptr<const Snapshot> snapshot) {
  const Dataset& data = data_.of(split);
  auto pass = std::make_shared<EvaluationPass>();
  pass->iteration = model->course.iterations;
  pass->total_iteration = static_cast<int32_t>(model->total_iterations);
  pass->split = split;
  pass->snapshot = std::move(snapshot);
  pass->sums.resize(static_cast<size_t>(data.n_partitions()));
  pass->taken.resize(pass->sums.size(), false);
  pass->untaken = data.n_partitions();
  pass->unfinished = data.n_partitions();
  for (int p = 0; p < data.n_partitions(); ++p) WantLocked(*model, split, p, true);
  pass->ready_since = MonotonicSeconds();
  model->passes.push_back(std::move(pass));
  model->work += PassWork(*model->trainer, data.desc());
}

void Run::EvaluateTask(const Task& task) {
  Model* model = task.model;
  EvaluationPass& pass = *task.pass;
  std::vector<MetricSums> sums;
  Laps laps;
  VisitEnd end = VisitEnd::kDone;
  std::optional<Problem> failure;
  Stopwatch watch;
  try {
    sums.resize(static_cast<size_t>(task.count));
    const Dataset& data = data_.of(pass.split);
    for (int i = 0; i < task.count && end == VisitEnd::kDone; ++i) {
      end = model->trainer->Evaluate(pass.snapshot->weights.data(),
                                     data.partition(task.partition + i), cancel_,
                                     &sums[static_cast<size_t>(i)], pass.snapshot->frozen);
      laps.Add(watch.Lap());
    }
  } catch (const Cancelled&) {
    end = VisitEnd::kCancelled;
    laps.Add(watch.Lap());
  } catch (...) {
    failure = backend_.Describe();
    laps.Add(watch.Lap());
  }

  Books books(this);
  VisitRecord visit;
  visit.kind = VisitKind::kEvaluate;
  visit.split = pass.split;
  visit.iteration = pass.total_iteration;
  double after = 0.0;
  for (int i = 0; i < laps.n; ++i) {
    visit.first_partition = task.partition + i;
    visit.evaluate = laps.seconds[static_cast<size_t>(i)];
    RecordVisitLocked(task, visit, after);
    after += visit.evaluate;
  }
  model->spent.seconds_evaluating += after;
  if (end == VisitEnd::kCancelled && !failure.has_value()) return;
  if (model->status != ModelStatus::kTraining) return;
  if (failure.has_value()) {
    FailLocked(model, *std::move(failure));
    return;
  }
  std::move(sums.begin(), sums.end(), pass.sums.begin() + task.partition);
  pass.unfinished -= task.count;
  model->work -= PassWork(*model->trainer, data_.of(pass.split).desc()) /
                 static_cast<double>(pass.sums.size()) * static_cast<double>(task.count);
  if (pass.unfinished == 0) Settle(model, &books);
  UpdateLocked(model);
}

}  // namespace hopper
