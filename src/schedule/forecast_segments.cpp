// A run on a cluster's segments, played.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "schedule/forecast.h"
#include "schedule/forecast_cancel.h"

namespace hopper {

namespace {

class SegmentsPlayer {
 public:
  SegmentsPlayer(const Ring& ring, const std::vector<ModelCost>& models, const RunRules& rules,
                 const SegmentPlaces& places, double statement)
      : ring_(ring),
        costs_(models),
        rules_(rules),
        places_(places),
        statement_(statement),
        keys_(places.keys.All()) {
    for (size_t i = 0; i < keys_.size(); ++i) {
      place_[keys_[i]] = i;
      all_.push_back(static_cast<int32_t>(i));
    }
    counts_.resize(keys_.size());
    for (const int split : kSplits) {
      const auto of = static_cast<size_t>(split);
      for (const int32_t key : places.keys.of[of]) ++counts_[place_[key]][of];
    }
    for (const int32_t key : places.keys.of[kTrainSplit]) at_visit_.push_back(place_[key]);
    for (const auto& count : counts_) n_data_segments_ += count[kTrainSplit] > 0 ? 1 : 0;
  }

  int workers() const { return n_data_segments_ * places_.workers; }

  // `first`: by split, with what its data take when they are first seen.
  Forecast Iteration(int iteration, const std::array<bool, 2>& first, ForecastCancel* cancel) {
    iteration_ = iteration;
    first_ = first;
    Forecast result;
    models_.assign(costs_.size(), Model());
    for (size_t i = 0; i < models_.size(); ++i) models_[i].at = SegmentOfVisit(i);
    const auto trains = [](const Model& model) { return !model.done; };
    while (std::any_of(models_.begin(), models_.end(), trains)) {
      Statement(&result, cancel);
      if ((*cancel)()) return {};
    }
    result.idle =
        std::max(result.seconds * workers() - result.train - result.evaluate - result.hop, 0.0);
    return result;
  }

 private:
  // Segments are places in keys_.
  struct Model {
    size_t at = 0;
    int visit = 0;
    bool evaluating = false;
    bool done = false;
    std::array<bool, 2> evaluates = {};  // by split, now
    std::vector<bool> evaluated;         // by segment
    Course course;                       // behind the last iteration
  };

  size_t SegmentOfVisit(size_t model) const {
    return at_visit_[static_cast<size_t>(
        ring_.PartitionOf(costs_[model].key, models_[model].visit))];
  }

  // What `model` does on its segment now; moves its place on.
  double Process(size_t index, Forecast* result) {
    Model& model = models_[index];
    const ModelCost& cost = costs_[index];
    double seconds = 0.0;
    if (!model.evaluating && !model.done) {
      const int visits = VisitsOn(places_.keys, ring_, cost.key, model.visit, keys_[model.at]);
      seconds += visits * (cost.visit + (first_[kTrainSplit] ? cost.first_visit : 0.0));
      model.visit += visits;
      result->train += seconds;
      if (model.visit == ring_.n_partitions()) Order(cost, &model);
    }
    if (model.evaluating) {
      double evaluating = 0.0;
      for (const int split : kSplits) {
        const auto of = static_cast<size_t>(split);
        if (!model.evaluates[of]) continue;
        const double validation =
            cost.validation + (first_[kValidSplit] ? cost.first_validation : 0.0);
        evaluating += (split == kTrainSplit ? cost.evaluation : validation) * counts_[model.at][of];
      }
      model.evaluated.resize(keys_.size(), false);
      model.evaluated[model.at] = true;
      result->evaluate += evaluating;
      seconds += evaluating;
      const auto next =
          static_cast<size_t>(NextToEvaluate(all_, static_cast<int32_t>(model.at), [&](int32_t at) {
            return Lacks(model, static_cast<size_t>(at));
          }));
      if (next == model.at) Order(cost, &model);
      model.at = next;
    } else if (!model.done) {
      model.at = SegmentOfVisit(index);
    }
    return seconds;
  }

  // What is evaluated next, after the visits and after each evaluation.
  void Order(const ModelCost& cost, Model* model) const {
    const bool is_last = iteration_ == rules_.num_iterations;
    const bool begins = !model->evaluating;
    Course& course = model->course;
    course.iterations = iteration_;
    model->evaluated.clear();
    model->evaluates = {};
    if (begins) model->evaluates = Ordered(rules_, cost.watching, course, iteration_);
    model->evaluating = model->evaluates[0] || model->evaluates[1];
    if (!model->evaluating && is_last && !course.final_pass) {
      course.final_pass =
          WhatFollows(rules_, cost.watching, course, iteration_) == AfterReports::kFinalPass;
      if (course.final_pass) model->evaluates = Ordered(rules_, cost.watching, course, iteration_);
      model->evaluating = course.final_pass;
    }
    model->done = !model->evaluating;
  }

  bool Lacks(const Model& model, size_t at) const {
    bool has = false;
    for (const int split : kSplits) {
      const auto of = static_cast<size_t>(split);
      has = has || (model.evaluates[of] && counts_[at][of] > 0);
    }
    return has && !model.evaluated[at];
  }

  void Statement(Forecast* result, ForecastCancel* cancel) {
    std::map<size_t, std::vector<size_t>> visitors;
    for (size_t i = 0; i < models_.size(); ++i) visitors[models_[i].at].push_back(i);
    double slowest = 0.0;
    double moving = 0.0;
    for (auto& [segment, here] : visitors) {
      // The most expensive first, each to the thread that is free first.
      std::stable_sort(here.begin(), here.end(),
                       [&](size_t a, size_t b) { return costs_[a].visit > costs_[b].visit; });
      std::priority_queue<double, std::vector<double>, std::greater<>> threads;
      for (int i = 0; i < places_.workers; ++i) threads.push(0.0);
      double end = 0.0;
      double hops = 0.0;
      for (const size_t model : here) {
        if ((*cancel)()) return;
        const double finished = threads.top() + Process(model, result);
        threads.pop();
        threads.push(finished);
        end = std::max(end, finished);
        hops += costs_[model].hop;
      }
      slowest = std::max(slowest, end);
      moving = std::max(moving, hops);
    }
    result->seconds += slowest + statement_ + moving;
    result->hop += (statement_ + moving) * workers();
  }

  const Ring& ring_;
  const std::vector<ModelCost>& costs_;
  const RunRules& rules_;
  const SegmentPlaces& places_;
  const double statement_;
  const std::vector<int32_t> keys_;
  std::map<int32_t, size_t> place_;         // in keys_
  std::vector<int32_t> all_;                // places
  std::vector<std::array<int, 2>> counts_;  // by segment and split: partitions
  std::vector<size_t> at_visit_;            // by training partition: its segment
  int n_data_segments_ = 0;
  std::vector<Model> models_;
  int iteration_ = 0;
  std::array<bool, 2> first_ = {};
};

void AddTimes(const Forecast& one, double times, Forecast* total) {
  total->seconds += one.seconds * times;
  total->train += one.train * times;
  total->evaluate += one.evaluate * times;
  total->hop += one.hop * times;
  total->idle += one.idle * times;
}

// Models are dealt out, the most expensive first, to the segment with the least to do.
Forecast ForecastWhereTheyStay(const Ring& ring, const std::vector<ModelCost>& models,
                               const RunRules& rules, const SegmentPlaces& places, double statement,
                               const std::atomic<bool>* cancel) {
  const std::vector<int32_t>& keys = places.keys.of[kTrainSplit];
  const size_t n = std::set<int32_t>(keys.begin(), keys.end()).size();
  std::vector<ModelCost> sorted = models;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ModelCost& a, const ModelCost& b) { return a.visit > b.visit; });
  std::vector<std::vector<ModelCost>> dealt(n);
  std::vector<double> loads(n);
  std::vector<double> moving(n);
  for (const ModelCost& cost : sorted) {
    const auto least = static_cast<size_t>(
        std::distance(loads.begin(), std::min_element(loads.begin(), loads.end())));
    dealt[least].push_back(cost);
    loads[least] += cost.visit;
    moving[least] += cost.hop;
  }
  Forecast total;
  for (const std::vector<ModelCost>& here : dealt) {
    const Forecast one = ForecastLocal(ring, here, rules, places.workers, 0.0, cancel);
    if (cancel != nullptr && cancel->load()) return {};
    total.seconds = std::max(total.seconds, one.seconds);
    total.train += one.train;
    total.evaluate += one.evaluate;
  }
  // A statement ends when the iterations have that it has begun.
  const double longest = sorted.front().visit * ring.n_partitions();
  const double statements = std::max(std::ceil(total.seconds / (places.patience + longest)), 1.0);
  const double hopping = statements * (statement + *std::max_element(moving.begin(), moving.end()));
  const double workers = static_cast<double>(n) * places.workers;
  total.seconds += hopping;
  total.hop = hopping * workers;
  total.idle = std::max(total.seconds * workers - total.train - total.evaluate - total.hop, 0.0);
  return total;
}

}  // namespace

Forecast ForecastSegments(const Ring& ring, const std::vector<ModelCost>& models,
                          const RunRules& rules, const SegmentPlaces& places, double statement,
                          const std::atomic<bool>* cancel) {
  if (models.empty()) return {};
  if (places.patience > 0.0) {
    return ForecastWhereTheyStay(ring, models, rules, places, statement, cancel);
  }
  ForecastCancel cancelled(cancel);
  SegmentsPlayer player(ring, models, rules, places, statement);
  Forecast total;
  // Iterations differ only in what is evaluated after them. `iteration`: the first one of its kind.
  const auto add = [&](int64_t iteration, int64_t count) {
    if (count == 0) return true;
    const Forecast one = player.Iteration(static_cast<int32_t>(iteration), {}, &cancelled);
    if (cancelled()) return false;
    AddTimes(one, static_cast<double>(count), &total);
    return true;
  };
  const int32_t last = rules.num_iterations;
  const int64_t train = rules.frequency[kTrainSplit];
  const int64_t valid = rules.frequency[kValidSplit];
  const int64_t both = std::lcm(train, valid);
  const int64_t with_train = (last - 1) / train;
  const int64_t with_valid = (last - 1) / valid;
  const int64_t with_both = (last - 1) / both;
  // The first one reports nothing, or all report something.
  if (!add(1, last - 1 - with_train - with_valid + with_both)) return {};
  if (!add(train, with_train - with_both)) return {};
  if (!add(valid, with_valid - with_both)) return {};
  if (!add(both, with_both)) return {};
  if (!add(last, 1)) return {};
  const auto more = [](const ModelCost& cost) {
    return cost.first_visit > 0.0 || cost.first_validation > 0.0;
  };
  if (std::any_of(models.begin(), models.end(), more)) {
    const int32_t validated = static_cast<int32_t>(std::min<int64_t>(valid, last));
    for (const int32_t iteration : std::set<int32_t>{1, validated}) {
      const std::array<bool, 2> first = {iteration == 1, iteration == validated};
      AddTimes(player.Iteration(iteration, first, &cancelled), 1.0, &total);
      AddTimes(player.Iteration(iteration, {}, &cancelled), -1.0, &total);
      if (cancelled()) return {};
    }
  }
  return total;
}

}  // namespace hopper
