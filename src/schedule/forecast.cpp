#include "schedule/forecast.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "schedule/ready.h"

namespace hopper {

namespace {

constexpr int kRunning = 1;
constexpr int kFinal = 2;
// Tasks of a local run that are played; an iteration always is.
constexpr double kMaxTasks = 2e5;
// Tasks between two looks at `cancel`.
constexpr int kBetweenLooks = 1024;

// Whether to end early; looks now and then.
class Cancel {
 public:
  explicit Cancel(const std::atomic<bool>* flag) : flag_(flag) {}
  bool operator()() {
    if (flag_ == nullptr || ++calls_ % kBetweenLooks != 0) return seen_;
    return seen_ = flag_->load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<bool>* const flag_;
  int64_t calls_ = 0;
  bool seen_ = flag_ != nullptr && flag_->load(std::memory_order_relaxed);
};

}  // namespace

bool RunShape::EvaluatesTraining(int iteration) const {
  if (training_metrics == kRunning || !IsMetricsIteration(iteration)) return false;
  return training_metrics != kFinal || iteration == num_iterations;
}

int RunShape::TrainingEvaluations(int iteration) const {
  if (training_metrics == kRunning) return 0;
  if (training_metrics == kFinal) return iteration < num_iterations ? 1 : 0;
  return MetricsIterations(iteration);
}

// ---------------------------------------------------------------- local

namespace {

// The rules are those of engine/run_work.cpp.
class LocalPlayer {
 public:
  LocalPlayer(const Ring& ring, const std::vector<ModelCost>& costs, const RunShape& shape,
              int iterations, int workers, double hop)
      : partitions_(ring.n_partitions()),
        shape_(shape),
        iterations_(iterations),
        hop_(hop),
        ready_(std::vector<int64_t>(costs.size(), 0)) {
    for (const ModelCost& cost : costs) {
      models_.emplace_back();
      models_.back().cost = cost;
      models_.back().work = cost.visit * partitions_ * iterations;
    }
    for (Model& model : models_) Update(model);
    for (int i = 0; i < workers; ++i) free_.push(i);
    result_.seconds = 0.0;
  }

  Forecast Play(int workers, Cancel* cancel) {
    double now = 0.0;
    for (;;) {
      if ((*cancel)()) return {};
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
    const int64_t at = ready_.Best(0);
    if (at < 0) return false;
    Model* best = &models_[static_cast<size_t>(at)];
    Task task;
    task.worker = free_.top();
    task.model = static_cast<size_t>(at);
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
    Update(*best);
    return true;
  }

  void Update(const Model& model) {
    const auto at = static_cast<size_t>(&model - models_.data());
    if (model.passes.empty() && (model.busy || model.iterations >= iterations_)) {
      ready_.Remove(at);
    } else {
      ready_.Set(at, model.work);
    }
  }

  void Finish(const Task& task) {
    Model& model = models_[task.model];
    model.work -= task.work;
    if (task.trains) {
      model.busy = false;
      if (++model.visit == partitions_) FinishIteration(&model);
    }
    Update(model);
  }

  void FinishIteration(Model* finished) {
    Model& model = *finished;
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
  ReadyModels ready_;
  std::vector<Model> models_;
  std::priority_queue<int, std::vector<int>, std::greater<>> free_;
  std::priority_queue<Task, std::vector<Task>, std::greater<>> running_;
  Forecast result_;
};

}  // namespace

Forecast ForecastLocal(const Ring& ring, const std::vector<ModelCost>& models,
                       const RunShape& shape, int workers, double hop,
                       const std::atomic<bool>* cancel) {
  if (models.empty()) return {};
  const double partitions = ring.n_partitions();
  const double tasks =
      static_cast<double>(models.size()) * (2.0 * partitions + shape.validation_partitions);
  const int played = static_cast<int>(
      std::clamp(kMaxTasks / tasks, 1.0, static_cast<double>(shape.num_iterations)));
  Cancel cancelled(cancel);
  Forecast forecast =
      LocalPlayer(ring, models, shape, played, workers, hop).Play(workers, &cancelled);
  if (cancel != nullptr && cancel->load()) return {};
  const int left = shape.num_iterations - played;
  if (left == 0) return forecast;

  // Iterations that were left out cost what their work allows; the last one was played.
  const int last = shape.num_iterations - 1;
  const int training_passes =
      shape.TrainingEvaluations(played - 1) - shape.TrainingEvaluations(last);
  const int validations =
      shape.ValidationEvaluations(played - 1) - shape.ValidationEvaluations(last);
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
    for (const int32_t key : places.train_keys) ++counts_[AddKey(key)].first;
    n_data_segments_ = static_cast<int>(keys_.size());
    for (const int32_t key : places.valid_keys) ++counts_[AddKey(key)].second;
    at_visit_.reserve(places.train_keys.size());
    for (const int32_t key : places.train_keys) at_visit_.push_back(PlaceOf(key));
  }

  int workers() const { return n_data_segments_ * places_.workers; }

  Forecast Iteration(bool evaluates_training, bool evaluates_validation, Cancel* cancel) {
    evaluates_ = {evaluates_training, evaluates_validation};
    Forecast result;
    models_.assign(costs_.size(), Model());
    for (size_t i = 0; i < models_.size(); ++i) models_[i].at = SegmentOfVisit(i);
    const int expected = ExpectedHops();
    bool complete = false;
    for (int hop = 0; hop < expected || !complete; ++hop) {
      Statement(&result, cancel);
      if ((*cancel)()) return {};
      complete = std::all_of(models_.begin(), models_.end(), [](const Model& m) { return m.done; });
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
    std::vector<bool> evaluated;  // by segment
  };

  // Its place in keys_.
  size_t AddKey(int32_t key) {
    const auto [at, added] = place_.emplace(key, keys_.size());
    if (added) {
      keys_.push_back(key);
      counts_.emplace_back(0, 0);
    }
    return at->second;
  }
  size_t PlaceOf(int32_t key) const { return place_.at(key); }

  size_t SegmentOfVisit(size_t model) const {
    return at_visit_[static_cast<size_t>(
        ring_.PartitionOf(costs_[model].key, models_[model].visit))];
  }

  // As many as the coordinator plans: the longest way, and then those that evaluate.
  int ExpectedHops() const {
    int longest = 1;
    for (const ModelCost& cost : costs_) {
      int hops = 1;
      for (int v = 1; v < ring_.n_partitions(); ++v) {
        hops += at_visit_[static_cast<size_t>(ring_.PartitionOf(cost.key, v))] !=
                        at_visit_[static_cast<size_t>(ring_.PartitionOf(cost.key, v - 1))]
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
      while (model.visit < ring_.n_partitions() && SegmentOfVisit(index) == model.at) {
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
      if (evaluates_.first) evaluating += cost.evaluation * counts_[model.at].first;
      if (evaluates_.second) evaluating += cost.validation * counts_[model.at].second;
      model.evaluated.resize(keys_.size(), false);
      model.evaluated[model.at] = true;
      result->evaluate += evaluating;
      seconds += evaluating;
      const size_t next = NextToEvaluate(model);
      model.evaluating = next != model.at;
      model.done = next == model.at;
      model.at = next;
    } else if (!model.done) {
      model.at = SegmentOfVisit(index);
    }
    return seconds;
  }

  // The next segment in their ring with data to evaluate on, or the one where it is.
  size_t NextToEvaluate(const Model& model) const {
    for (size_t i = 1; i < keys_.size(); ++i) {
      const size_t at = (model.at + i) % keys_.size();
      const bool has = (evaluates_.first && counts_[at].first > 0) ||
                       (evaluates_.second && counts_[at].second > 0);
      if (has && !model.evaluated[at]) return at;
    }
    return model.at;
  }

  void Statement(Forecast* result, Cancel* cancel) {
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
      double moved = 0.0;
      for (const size_t model : here) {
        if ((*cancel)()) return;
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
  std::map<int32_t, size_t> place_;          // in keys_
  std::vector<std::pair<int, int>> counts_;  // by segment: partitions of training and validation
  std::vector<size_t> at_visit_;             // by training partition: its segment
  int n_data_segments_ = 0;
  std::vector<Model> models_;
  std::pair<bool, bool> evaluates_;  // training data, validation data
};

}  // namespace

Forecast ForecastSegments(const Ring& ring, const std::vector<ModelCost>& models,
                          const RunShape& shape, const SegmentPlaces& places, double statement,
                          const std::atomic<bool>* cancel) {
  if (models.empty()) return {};
  Cancel cancelled(cancel);
  SegmentsPlayer player(ring, models, places, statement);
  // Iterations differ only in what is evaluated after them.
  const int metrics = shape.MetricsIterations(0);
  std::map<std::pair<bool, bool>, int> kinds;
  const auto add = [&](int iteration, int count) {
    if (count == 0) return;
    kinds[{shape.EvaluatesTraining(iteration), shape.EvaluatesValidation(iteration)}] += count;
  };
  add(shape.num_iterations, 1);
  add(shape.metrics_frequency, metrics - 1);
  add(1, shape.num_iterations - metrics);
  Forecast total;
  for (const auto& [kind, count] : kinds) {
    const Forecast one = player.Iteration(kind.first, kind.second, &cancelled);
    if (cancelled()) return {};
    total.seconds += one.seconds * count;
    total.train += one.train * count;
    total.evaluate += one.evaluate * count;
    total.hop += one.hop * count;
    total.idle += one.idle * count;
  }
  return total;
}

}  // namespace hopper
