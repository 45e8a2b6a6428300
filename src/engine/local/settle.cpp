// What follows a visit or an evaluation: reports, decisions, the ends of models, and what is told.
#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/local/run.h"
#include "engine/task_work.h"

namespace hopper {

// One worker at a time does so for a model, in the order of its iterations; who comes meanwhile
// leaves what it has to that one.
void Run::Settle(Model* model, Books* books) {
  if (model->settling) return;
  model->settling = true;
  ++model->tasks;  // the state is in use
  try {
    while (model->status == ModelStatus::kTraining && SettleOne(model, books)) {
    }
  } catch (const Cancelled&) {
    if (!books->owns_lock()) books->lock();  // nobody goes on with it
  } catch (...) {
    if (books->owns_lock()) throw;
    Problem problem = backend_.Describe();
    books->lock();
    if (model->status == ModelStatus::kTraining) FailLocked(model, std::move(problem));
  }
  --model->tasks;
  model->settling = false;
  HaltIfDueLocked(model);
  ReleaseIfIdleLocked(model);
  CountSnapshotsLocked(model);
  UpdateLocked(model);
}

// False: nothing is due.
bool Run::SettleOne(Model* model, Books* books) {
  const Stopping& stopping = model->trainer->stopping();
  if (model->course.deciding && KnowsWhatItWatches(*model)) {
    // No worker has the state: none may take the model while it is deciding.
    const std::shared_ptr<const Snapshot> evaluated = std::move(model->evaluated);
    books->unlock();
    stopping.Decide(model->total_iterations, model->observed,
                    evaluated == nullptr ? nullptr : evaluated->weights.data(),
                    model->state.params.size(), &model->state.monitor);
    books->lock();
    const bool early = Stopping::Stopped(model->state.monitor);
    const bool stops = early || ends_iterations_;
    if (model->status == ModelStatus::kTraining) {
      if (stops) StopLocked(model);
      if (early) TellStoppedLocked(*model);
    }
    Decide(stops, &model->course);
    return true;
  }
  if (!model->passes.empty() && model->passes.front()->unfinished == 0) {
    const std::shared_ptr<EvaluationPass> pass = std::move(model->passes.front());
    model->passes.pop_front();
    books->unlock();
    MetricSums total;
    for (const MetricSums& sums : pass->sums) total.Add(sums);
    Report report = ReportOf(*model, total);
    books->lock();
    if (model->status == ModelStatus::kTraining) {
      PushMetricsLocked(model, pass->total_iteration, pass->split, false, std::move(report));
    }
    return true;
  }
  CountReportedLocked(model);
  if (!model->passes.empty()) return false;
  // Somebody has the state while it trains.
  const int32_t delivered =
      HasVisits(model->rules, model->course) ? model->course.iterations : DeliveredHere(*model);
  const AfterReports follows = WhatFollows(model->rules, model->watching, model->course, delivered);
  if (follows == AfterReports::kGoesOn) return false;
  if (follows == AfterReports::kFinalPass) {
    model->course.final_pass = true;
    int64_t iteration = 0;
    books->unlock();
    const auto snapshot = std::make_shared<const Snapshot>(
        model->trainer->DeliveredWeights(model->state, &iteration), model->state.frozen);
    books->lock();
    if (model->status != ModelStatus::kTraining) return false;
    AddPassesLocked(model, delivered, snapshot);
    for (const auto& pass : model->passes) {
      pass->total_iteration = static_cast<int32_t>(iteration);
    }
    return false;
  }
  DoneLocked(model);
  return false;
}

bool Run::KnowsWhatItWatches(const Model& model) { return model.observed.Knows(model.watching); }

void Run::CountReportedLocked(Model* model) {
  model->reported =
      model->passes.empty() ? model->course.iterations : model->passes.front()->iteration - 1;
  CountProgressLocked(model);
  AnnounceIterationsLocked();
}

void Run::StopLocked(Model* model) {
  model->work -= VisitWork(*model->trainer, data_.train().desc()) *
                 static_cast<double>(VisitsLeft(model->rules, model->course));
  model->course.stopped = true;
}

void Run::TellStoppedLocked(const Model& model) {
  Event event = NewEventLocked(EventType::kModelStopped, &model);
  event.iteration = static_cast<int32_t>(model.total_iterations);
  event.problem.message = model.trainer->stopping().Reason(model.state.monitor);
  events_.Push(std::move(event));
}

void Run::EndIterations() {
  const Books books(this);
  ends_iterations_ = true;
}

void Run::DoneLocked(Model* model) {
  SetStatusLocked(model, ModelStatus::kDone);
  --training_;
  model->delivery.stopping = StoppingOf(*model->trainer, model->state);
  model->delivery.state_size =
      StateWriter(StateLayoutOf(model->trainer->network().spec()), model->state).size();
  Event event = NewEventLocked(EventType::kModelDone, model);
  event.iteration = static_cast<int32_t>(model->total_iterations);
  event.take = AnyWaitsLocked();
  event.take || pool_ ? events_.Push(std::move(event)) : events_.PushQuietly(std::move(event));
  EndLocked(model);
}

void Run::FailLocked(Model* model, Problem problem) {
  if (model->status == ModelStatus::kTraining) {
    --live_;
    --training_;
  }
  SetStatusLocked(model, ModelStatus::kFailed);
  model->failure = std::move(problem);
  CountProgressLocked(model);
  DropPassesLocked(model);
  UpdateLocked(model);
  EndLocked(model);
  ReleaseIfIdleLocked(model);
  TellFailureLocked(*model);
  AnnounceIterationsLocked();
}

void Run::TellFailureLocked(const Model& model) {
  Event event = NewEventLocked(EventType::kModelFailed, &model);
  event.iteration = static_cast<int32_t>(model.total_iterations);
  event.problem = model.failure;
  events_.Push(std::move(event));
}

// A stopped model has finished all iterations; a failed one does not count.
void Run::CountProgressLocked(Model* model) {
  if (pool_) return;  // it has no iteration in common
  if (model->status == ModelStatus::kFailed) {
    iterations_.Remove(model->index);
    return;
  }
  const bool ended = model->reported >= LastIteration(model->rules, model->course);
  iterations_.Set(model->index, ended ? rules_.num_iterations : model->reported,
                  model->total_iterations - model->course.iterations);
}

void Run::AnnounceIterationsLocked() {
  const auto span = iterations_.Next();
  if (!span.has_value()) return;
  Event event = NewEventLocked(EventType::kIteration, nullptr);
  event.iteration = static_cast<int32_t>(span->first);
  events_.PushIterations(std::move(event), static_cast<int32_t>(span->last));
}

Event Run::NewEventLocked(EventType type, const Model* model) const {
  Event event;
  event.type = type;
  event.mst_key = model == nullptr ? 0 : model->key;
  event.n_live = live_;
  event.elapsed = started_ ? MonotonicSeconds() - start_time_ : 0.0;
  return event;
}

Run::Report Run::ReportOf(const Model& model, const MetricSums& sums) {
  Report report;
  model.trainer->Finish(sums, &report.loss, &report.metrics);
  return report;
}

void Run::PushMetricsLocked(Model* model, int64_t iteration, int split, bool running,
                            Report report) {
  Event event = NewEventLocked(EventType::kMetrics, model);
  event.iteration = static_cast<int32_t>(iteration);
  event.split = split;
  event.running = running;
  event.loss = report.loss;
  event.metrics = report.metrics;
  events_.PushQuietly(std::move(event));
  if (!model->course.deciding || iteration != model->total_iterations) return;
  model->observed.splits[static_cast<size_t>(split)] = {true, report.loss,
                                                        std::move(report.metrics)};
}

void Run::Warn(int32_t mst_key, const Problem& problem) {
  Event event = NewEventLocked(EventType::kWarning, nullptr);
  event.mst_key = mst_key;
  event.problem = problem;
  events_.Push(std::move(event));
}

void Run::WorkerWarning(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Problem problem;
  if (warnings_.IsNew(text, &problem)) Warn(0, problem);
}

}  // namespace hopper
