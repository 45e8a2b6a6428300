#include "schedule/forecast.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace hopper {

namespace {

constexpr int kRunning = 1;
constexpr int kFinal = 2;
// Looks at a model that playing a local run may take.
constexpr double kMaxLooks = 2e6;

}  // namespace

bool RunShape::EvaluatesTraining(int iteration) const {
  if (training_metrics == kRunning || !IsMetricsIteration(iteration)) return false;
  return training_metrics != kFinal || iteration == num_iterations;
}

// ---------------------------------------------------------------- local

namespace {

// The rules are those of engine/run_work.cpp.
class LocalPlayer {
 public:
  LocalPlayer(const Ring& ring, const std::vector<ModelCost>& costs, const RunShape& shape,
              int iterations, int workers, double hop)
      : partitions_(ring.n_partitions()), shape_(shape), iterations_(iterations), hop_(hop) {
    for (const ModelCost& cost : costs) {
      models_.emplace_back();
      models_.back().cost = cost;
      models_.back().work = cost.visit * partitions_ * iterations;
    }
    for (int i = 0; i < workers; ++i) free_.push(i);
    result_.seconds = 0.0;
  }

  Forecast Play(int workers) {
    double now = 0.0;
    for (;;) {
      while (!free_.empty() && Take(now)) {
      }
      if (running_.empty()) break;
      const Task task = running_.top();
      running_.pop();
      now = task.end;
      free_.push(task.worker);
      Finish(task);
    }
    result_.seconds = now;
    result_.idle = std::max(now * workers - result_.train - result_.evaluate - result_.hop, 0.0);
    return result_;
  }

 private:
  struct Pass {
    double cost;  // of a partition
    int next;     // how many partitions nobody has taken
  };
  struct Model {
    ModelCost cost;
    bool busy = false;
    int visit = 0;
    int iterations = 0;
    double work = 0.0;
    std::deque<Pass> passes;
  };
  struct Task {
    double end;
    int worker;
    size_t model;
    double work;
    bool trains;
    bool operator>(const Task& other) const {
      return end != other.end ? end > other.end : worker > other.worker;
    }
  };

  bool Take(double now) {
    Model* best = nullptr;
    for (Model& model : models_) {
      if (best != nullptr && best->work >= model.work) continue;
      if (model.passes.empty() && (model.busy || model.iterations >= iterations_)) continue;
      best = &model;
    }
    if (best == nullptr) return false;
    Task task;
    task.worker = free_.top();
    task.model = static_cast<size_t>(best - models_.data());
    task.trains = best->passes.empty();
    if (task.trains) {
      best->busy = true;
      task.work = best->cost.visit;
      result_.train += task.work;
    } else {
      Pass& pass = best->passes.front();
      task.work = pass.cost;
      if (--pass.next == 0) best->passes.pop_front();
      result_.evaluate += task.work;
    }
    result_.hop += hop_;
    task.end = now + hop_ + task.work;
    free_.pop();
    running_.push(task);
    return true;
  }

  void Finish(const Task& task) {
    Model& model = models_[task.model];
    model.work -= task.work;
    if (!task.trains) return;
    model.busy = false;
    if (++model.visit < partitions_) return;
    model.visit = 0;
    // The last iteration that is played stands for the last of the run.
    ++model.iterations;
    const int iteration =
        model.iterations == iterations_ ? shape_.num_iterations : model.iterations;
    if (shape_.EvaluatesTraining(iteration)) AddPass(model.cost.evaluation, partitions_, &model);
    if (shape_.EvaluatesValidation(iteration)) {
      AddPass(model.cost.validation, shape_.validation_partitions, &model);
    }
  }

  static void AddPass(double cost, int partitions, Model* model) {
    model->passes.push_back({cost, partitions});
    model->work += cost * partitions;
  }

  const int partitions_;
  const RunShape& shape_;
  const int iterations_;
  const double hop_;
  std::vector<Model> models_;
  std::priority_queue<int, std::vector<int>, std::greater<>> free_;
  std::priority_queue<Task, std::vector<Task>, std::greater<>> running_;
  Forecast result_;
};

}  // namespace

Forecast ForecastLocal(const Ring& ring, const std::vector<ModelCost>& models,
                       const RunShape& shape, int workers, double hop) {
  if (models.empty()) return {};
  const double partitions = ring.n_partitions();
  const double tasks =
      static_cast<double>(models.size()) * (2.0 * partitions + shape.validation_partitions);
  const double looks = tasks * static_cast<double>(models.size());
  const int played = static_cast<int>(
      std::clamp(kMaxLooks / looks, 1.0, static_cast<double>(shape.num_iterations)));
  Forecast forecast = LocalPlayer(ring, models, shape, played, workers, hop).Play(workers);
  const int left = shape.num_iterations - played;
  if (left == 0) return forecast;

  // Iterations that were left out cost what their work allows.
  int training_passes = 0;
  int validations = 0;
  for (int i = played; i < shape.num_iterations; ++i) {
    training_passes += shape.EvaluatesTraining(i) ? 1 : 0;
    validations += shape.EvaluatesValidation(i) ? 1 : 0;
  }
  Forecast rest;
  double longest = 0.0;
  for (const ModelCost& model : models) {
    const double train = model.visit * partitions * left;
    const double evaluate = model.evaluation * partitions * training_passes +
                            model.validation * shape.validation_partitions * validations;
    const double hops = hop * (partitions * (left + training_passes) +
                               static_cast<double>(shape.validation_partitions) * validations);
    rest.train += train;
    rest.evaluate += evaluate;
    rest.hop += hops;
    longest = std::max(longest, train + hop * partitions * left);
  }
  const double busy = rest.train + rest.evaluate + rest.hop;
  rest.seconds = std::max(busy / workers, longest);
  forecast.seconds += rest.seconds;
  forecast.train += rest.train;
  forecast.evaluate += rest.evaluate;
  forecast.hop += rest.hop;
  forecast.idle += rest.seconds * workers - busy;
  return forecast;
}

// ---------------------------------------------------------------- segments

namespace {

// The rules are those of engine/group_work.cpp.
class SegmentsPlayer {
 public:
  SegmentsPlayer(const Ring& ring, const std::vector<ModelCost>& models,
                 const SegmentPlaces& places, double statement)
      : ring_(ring), costs_(models), places_(places), statement_(statement) {
    for (const int32_t key : places.train_keys) AddKey(key);
    n_data_segments_ = static_cast<int>(keys_.size());
    for (const int32_t key : places.valid_keys) AddKey(key);
  }

  int workers() const { return n_data_segments_ * places_.workers; }

  Forecast Iteration(bool evaluates_training, bool evaluates_validation) {
    evaluates_ = {evaluates_training, evaluates_validation};
    Forecast result;
    models_.assign(costs_.size(), Model());
    for (size_t i = 0; i < models_.size(); ++i) models_[i].at = KeyOfVisit(i);
    const int expected = ExpectedHops();
    bool complete = false;
    for (int hop = 0; hop < expected || !complete; ++hop) {
      Statement(&result);
      complete = std::all_of(models_.begin(), models_.end(), [](const Model& m) { return m.done; });
    }
    result.idle =
        std::max(result.seconds * workers() - result.train - result.evaluate - result.hop, 0.0);
    return result;
  }

 private:
  struct Model {
    int32_t at = 0;
    int visit = 0;
    bool evaluating = false;
    bool done = false;
    std::vector<int32_t> evaluated;  // keys
  };

  void AddKey(int32_t key) {
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(key);
  }

  int32_t KeyOfVisit(size_t model) const {
    return places_.train_keys[static_cast<size_t>(
        ring_.PartitionOf(costs_[model].key, models_[model].visit))];
  }

  // As many as the coordinator plans: the longest way, and then those that evaluate.
  int ExpectedHops() const {
    int longest = 1;
    for (const ModelCost& cost : costs_) {
      int hops = 1;
      for (int v = 1; v < ring_.n_partitions(); ++v) {
        hops += places_.train_keys[static_cast<size_t>(ring_.PartitionOf(cost.key, v))] !=
                        places_.train_keys[static_cast<size_t>(ring_.PartitionOf(cost.key, v - 1))]
                    ? 1
                    : 0;
      }
      longest = std::max(longest, hops);
    }
    return longest;
  }

  // What `model` does on its segment now; moves its place on.
  double Process(size_t index, Forecast* result) {
    Model& model = models_[index];
    const ModelCost& cost = costs_[index];
    double seconds = 0.0;
    if (!model.evaluating && !model.done) {
      while (model.visit < ring_.n_partitions() && KeyOfVisit(index) == model.at) {
        seconds += cost.visit;
        ++model.visit;
      }
      result->train += seconds;
      if (model.visit == ring_.n_partitions()) {
        model.evaluating = evaluates_.first || evaluates_.second;
        model.done = !model.evaluating;
      }
    }
    if (model.evaluating) {
      double evaluating = 0.0;
      if (evaluates_.first) evaluating += cost.evaluation * Count(places_.train_keys, model.at);
      if (evaluates_.second) evaluating += cost.validation * Count(places_.valid_keys, model.at);
      model.evaluated.push_back(model.at);
      result->evaluate += evaluating;
      seconds += evaluating;
      const int32_t next = NextToEvaluate(model);
      model.evaluating = next >= 0;
      model.done = next < 0;
      if (next >= 0) model.at = keys_[static_cast<size_t>(next)];
    } else if (!model.done) {
      model.at = KeyOfVisit(index);
    }
    return seconds;
  }

  static int Count(const std::vector<int32_t>& keys, int32_t key) {
    return static_cast<int>(std::count(keys.begin(), keys.end(), key));
  }

  // The place in keys_ of the next segment in their ring with data to evaluate on, or -1.
  int NextToEvaluate(const Model& model) const {
    const auto here =
        static_cast<size_t>(std::find(keys_.begin(), keys_.end(), model.at) - keys_.begin());
    for (size_t i = 1; i < keys_.size(); ++i) {
      const size_t at = (here + i) % keys_.size();
      const int32_t key = keys_[at];
      const bool has = (evaluates_.first && Count(places_.train_keys, key) > 0) ||
                       (evaluates_.second && Count(places_.valid_keys, key) > 0);
      const auto& done = model.evaluated;
      if (has && std::find(done.begin(), done.end(), key) == done.end()) {
        return static_cast<int>(at);
      }
    }
    return -1;
  }

  void Statement(Forecast* result) {
    std::map<int32_t, std::vector<size_t>> visitors;
    for (size_t i = 0; i < models_.size(); ++i) visitors[models_[i].at].push_back(i);
    double slowest = 0.0;
    double moving = 0.0;
    for (auto& [key, here] : visitors) {
      // The most expensive first, each to the thread that is free first.
      std::stable_sort(here.begin(), here.end(),
                       [&](size_t a, size_t b) { return costs_[a].visit > costs_[b].visit; });
      std::priority_queue<double, std::vector<double>, std::greater<>> threads;
      for (int i = 0; i < places_.workers; ++i) threads.push(0.0);
      double end = 0.0;
      double moved = 0.0;
      for (const size_t model : here) {
        const double finished = threads.top() + Process(model, result);
        threads.pop();
        threads.push(finished);
        end = std::max(end, finished);
        moved += costs_[model].hop;
      }
      slowest = std::max(slowest, end);
      moving = std::max(moving, moved);
    }
    result->seconds += slowest + statement_ + moving;
    result->hop += (statement_ + moving) * workers();
  }

  const Ring& ring_;
  const std::vector<ModelCost>& costs_;
  const SegmentPlaces& places_;
  const double statement_;
  std::vector<int32_t> keys_;
  int n_data_segments_ = 0;
  std::vector<Model> models_;
  std::pair<bool, bool> evaluates_;  // training data, validation data
};

}  // namespace

Forecast ForecastSegments(const Ring& ring, const std::vector<ModelCost>& models,
                          const RunShape& shape, const SegmentPlaces& places, double statement) {
  if (models.empty()) return {};
  SegmentsPlayer player(ring, models, places, statement);
  // Iterations differ only in what is evaluated after them.
  std::map<std::pair<bool, bool>, int> kinds;
  for (int i = 1; i <= shape.num_iterations; ++i) {
    ++kinds[{shape.EvaluatesTraining(i), shape.EvaluatesValidation(i)}];
  }
  Forecast total;
  for (const auto& [kind, count] : kinds) {
    const Forecast one = player.Iteration(kind.first, kind.second);
    total.seconds += one.seconds * count;
    total.train += one.train * count;
    total.evaluate += one.evaluate * count;
    total.hop += one.hop * count;
    total.idle += one.idle * count;
  }
  return total;
}

}  // namespace hopper
