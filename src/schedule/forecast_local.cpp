// A run on one server, played.
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

#include "schedule/forecast.h"
#include "schedule/forecast_cancel.h"
#include "schedule/ready.h"
#include "schedule/together.h"

namespace hopper {

namespace {

// Tasks of a local run that are played; an iteration always is.
constexpr double kMaxTasks = 2e5;

// Plays a run whose last iteration is the last one that is played.
class LocalPlayer {
 public:
  LocalPlayer(const std::vector<ModelCost>& costs, const RunRules& rules, int workers, double hop)
      : rules_(rules), hop_(hop), ready_(std::vector<int64_t>(costs.size(), 0)) {
    for (const ModelCost& cost : costs) {
      models_.emplace_back();
      models_.back().cost = cost;
      models_.back().work =
          cost.visit * static_cast<double>(VisitsLeft(rules_, models_.back().course)) +
          cost.first_visit * rules_.partitions[kTrainSplit];
    }
    for (Model& model : models_) Update(model);
    for (int i = 0; i < workers; ++i) free_.push(i);
    result_.seconds = 0.0;
  }

  Forecast Play(int workers, ForecastCancel* cancel) {
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
    int split;
    double cost;     // of a partition
    int untaken;     // partitions
    int unfinished;  // partitions
  };
  struct Model {
    ModelCost cost;
    bool busy = false;
    Course course;
    std::array<bool, 2> known = {};  // while it is deciding
    bool validated = false;
    double work = 0.0;
    std::deque<Pass> passes;
    size_t first_pass = 0;  // number of passes.front()
  };
  struct Task {
    double end;
    int worker;
    size_t model;
    double work;
    int count;  // visits, or partitions
    bool trains;
    size_t pass;  // its number
    bool operator>(const Task& other) const {
      return end != other.end ? end > other.end : worker > other.worker;
    }
  };

  static Pass* OpenPass(Model* model) {
    for (Pass& pass : model->passes) {
      if (pass.untaken > 0) return &pass;
    }
    return nullptr;
  }

  bool Take(double now) {
    const int64_t at = ready_.Best(0);
    if (at < 0) return false;
    Model* best = &models_[static_cast<size_t>(at)];
    Pass* pass = OpenPass(best);
    Task task = {};
    task.worker = free_.top();
    task.model = static_cast<size_t>(at);
    task.trains = pass == nullptr;
    if (task.trains) {
      best->busy = true;
      task.count = VisitsTogether(rules_, best->cost.watching, best->course,
                                  best->cost.visits_together, !best->passes.empty());
      task.work = best->cost.visit * task.count;
      if (best->course.iterations == 0) task.work += best->cost.first_visit * task.count;
      result_.train += task.work;
    } else {
      // A deque is not one array: a difference of addresses is no index.
      task.pass = best->first_pass;
      for (const Pass& earlier : best->passes) {
        if (&earlier == pass) break;
        ++task.pass;
      }
      task.count = std::min(best->cost.evaluations_together[static_cast<size_t>(pass->split)],
                            pass->untaken);
      task.work = pass->cost * task.count;
      pass->untaken -= task.count;
      result_.evaluate += task.work;
    }
    result_.hop += hop_;
    task.end = now + hop_ + task.work;
    free_.pop();
    running_.push(task);
    Update(*best);
    return true;
  }

  void Update(Model& model) {
    const auto at = static_cast<size_t>(&model - models_.data());
    if (OpenPass(&model) == nullptr &&
        (model.busy || model.course.deciding || !HasVisits(rules_, model.course))) {
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
      for (int i = 0; i < task.count; ++i) {
        if (EndVisit(rules_, model.cost.watching, &model.course)) FinishIteration(&model);
      }
    } else {
      model.passes[task.pass - model.first_pass].unfinished -= task.count;
    }
    Settle(&model);
    Update(model);
  }

  void FinishIteration(Model* model) {
    const int iteration = model->course.iterations;
    model->known = {rules_.TakesRunningMetrics(iteration), false};
    AddPasses(model);
  }

  void AddPasses(Model* model) {
    const std::array<bool, 2> ordered =
        Ordered(rules_, model->cost.watching, model->course, model->course.iterations);
    for (const int split : kSplits) {
      if (ordered[static_cast<size_t>(split)]) AddPass(split, model);
    }
  }

  void AddPass(int split, Model* model) {
    double cost = split == kTrainSplit ? model->cost.evaluation : model->cost.validation;
    if (split == kValidSplit && !model->validated) {
      cost += model->cost.first_validation;
      model->validated = true;
    }
    const int partitions = rules_.partitions[static_cast<size_t>(split)];
    model->passes.push_back({split, cost, partitions, partitions});
    model->work += cost * partitions;
  }

  // What is known is reported, in its order, and decides.
  void Settle(Model* model) {
    const Watching& watching = model->cost.watching;
    for (;;) {
      if (model->course.deciding && Knows(watching, model->known))
        Decide(/*stops=*/false, &model->course);
      if (model->passes.empty() || model->passes.front().unfinished > 0) break;
      model->known[static_cast<size_t>(model->passes.front().split)] = true;
      model->passes.pop_front();
      ++model->first_pass;
    }
    if (model->busy || !model->passes.empty() ||
        WhatFollows(rules_, watching, model->course, model->course.iterations) !=
            AfterReports::kFinalPass) {
      return;
    }
    model->course.final_pass = true;
    AddPasses(model);
  }

  const RunRules rules_;
  const double hop_;
  ReadyModels ready_;
  std::vector<Model> models_;
  std::priority_queue<int, std::vector<int>, std::greater<>> free_;
  std::priority_queue<Task, std::vector<Task>, std::greater<>> running_;
  Forecast result_;
};

}  // namespace

Forecast ForecastLocal(const Ring& ring, const std::vector<ModelCost>& models,
                       const RunRules& rules, int workers, double hop,
                       const std::atomic<bool>* cancel) {
  if (models.empty()) return {};
  const double partitions = ring.n_partitions();
  const double tasks =
      static_cast<double>(models.size()) * (2.0 * partitions + rules.partitions[kValidSplit]);
  const int played = static_cast<int>(
      std::clamp(kMaxTasks / tasks, 1.0, static_cast<double>(rules.num_iterations)));
  ForecastCancel cancelled(cancel);
  RunRules first = rules;
  first.num_iterations = played;
  first.partitions[kTrainSplit] = ring.n_partitions();
  Forecast forecast = LocalPlayer(models, first, workers, hop).Play(workers, &cancelled);
  if (cancel != nullptr && cancel->load()) return {};
  const int left = rules.num_iterations - played;
  if (left == 0) return forecast;

  // Iterations that were left out cost what their work allows; the last one was played.
  const auto passes = [&](int split) {
    return static_cast<double>(rules.Evaluations(split, played, rules.num_iterations - 1));
  };
  const double training_passes = passes(kTrainSplit);
  const double validations = passes(kValidSplit);
  Forecast rest;
  double longest = 0.0;
  for (const ModelCost& model : models) {
    const double train = model.visit * partitions * left;
    const double evaluate = model.evaluation * partitions * training_passes +
                            model.validation * rules.partitions[kValidSplit] * validations;
    const auto taken = [](int all, int together) {
      return static_cast<double>((all + together - 1) / together);
    };
    const double visits = hop * taken(ring.n_partitions(), model.visits_together) * left;
    const auto& [of_training, of_validation] = model.evaluations_together;
    const double hops =
        visits + hop * (taken(ring.n_partitions(), of_training) * training_passes +
                        taken(rules.partitions[kValidSplit], of_validation) * validations);
    rest.train += train;
    rest.evaluate += evaluate;
    rest.hop += hops;
    longest = std::max(longest, train + visits);
  }
  const double busy = rest.train + rest.evaluate + rest.hop;
  rest.seconds = SharedOut(busy, workers, longest);
  forecast.seconds += rest.seconds;
  forecast.train += rest.train;
  forecast.evaluate += rest.evaluate;
  forecast.hop += rest.hop;
  forecast.idle += rest.seconds * workers - busy;
  return forecast;
}

}  // namespace hopper
