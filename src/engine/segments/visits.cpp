// What is done with one model that came: visits, evaluations, what follows of them.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/events.h"
#include "engine/not_finite.h"
#include "engine/segments/traveller.h"

namespace hopper {

// Of what was ordered last: the final pass, or the evaluations of an iteration.
bool Group::WantsPass(const Traveller& model, int split) const {
  return Ordered(model.rules, model.watching, model.course,
                 DeliveredHere(model))[static_cast<size_t>(split)];
}

// What is evaluated now are the weights of the best iteration.
bool Group::DeliversBest(const Traveller& model) const {
  return model.course.final_pass && model.trainer->DeliversBest(model.state);
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
  visit.wait = visit.started;
  // What this segment did for the model just before was no waiting.
  if (!model->visits.empty() && model->visits.back().hop == visit.hop) {
    const VisitRecord& last = model->visits.back();
    visit.wait -= last.started + last.train + last.evaluate;
  }
  visit.wait = std::max(visit.wait, 0.0);
  model->visits.push_back(visit);
}

bool Group::BeginVisit(Traveller* model, int partition, VisitBegun* begun) const {
  const Trainer& trainer = *model->trainer;
  if (!model->has_state) {
    InitialWeights alone;
    if (!trainer.MakeState(&alone, cancel_, settings_.ClassOf(trainer), &model->state)) {
      return false;
    }
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
  model->spent.seconds_training += seconds;
  model->spent.examples += model->state.examples - begun.examples_before;
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
  const VisitEnd end = model->trainer->Visit(&model->state, data_.train().partition(partition),
                                             partition, cancel_, &sums, begun.metrics);
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

Event Group::NewEvent(EventType type, const Traveller& model) {
  Event event;
  event.type = type;
  event.mst_key = model.key;
  event.iteration = static_cast<int32_t>(model.total_iterations);
  return event;
}

void Group::Stop(Traveller* model) const {
  model->course.stopped = true;
  Event event = NewEvent(EventType::kModelStopped, *model);
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
  return model.trainer->WeightsToEvaluate(model.state, model.course.final_pass, copy);
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
  model->spent.seconds_evaluating += seconds;
}

void Group::Evaluate(Traveller* model, const std::vector<std::pair<int, int>>& partitions) const {
  Stopwatch watch;
  AlignedArray<float> copy;
  const float* weights = EvaluatedWeights(*model, &copy);
  const std::optional<Digest>& frozen = model->trainer->FrozenOf(&model->state);
  for (const auto& [split, p] : partitions) {
    MetricSums sums;
    if (model->trainer->Evaluate(weights, data_.of(split).partition(p), cancel_, &sums, frozen) !=
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
      wanted += static_cast<size_t>(data_.of(split).n_partitions());
    }
  }
  if (model->passed.size() < wanted) return;  // others are elsewhere, or not in memory
  for (const int split : kSplits) {
    if (!WantsPass(*model, split)) continue;
    MetricSums total;
    for (int p = 0; p < data_.of(split).n_partitions(); ++p) total.Add(model->passed[{split, p}]);
    PushMetrics(model, split, false, total);
    Decide(model, weights);
  }
  model->passed.clear();
  model->evaluating = false;
  FollowReports(model);
}

void Group::PushMetrics(Traveller* model, int split, bool running, const MetricSums& sums) const {
  Event event = NewEvent(EventType::kMetrics, *model);
  if (DeliversBest(*model)) {
    event.iteration = static_cast<int32_t>(model->state.monitor.best_iteration);
  }
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
  Event event = NewEvent(EventType::kModelFailed, *model);
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

}  // namespace hopper
