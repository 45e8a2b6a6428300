// A run whose data come and go, simulated by the rules of engine/local/work.cpp on a window:
// nothing may be read that is not there, no more memory be taken than there is, and nobody wait for
// ever.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schedule/ring.h"
#include "schedule/window.h"

namespace hopper {

struct Setting {
  int models = 3;
  int train = 5;
  int valid = 0;
  int train_bytes = 10;
  int valid_bytes = 10;
  int64_t budget = 20;
  int iterations = 2;
  int workers = 2;
  bool evaluate_train = false;  // after the last iteration
  bool evaluate_valid = false;  // after every iteration
  bool waits = false;           // the next iteration begins after the evaluations
  bool every = false;           // evaluate_train after every iteration
  int watchers = 0;             // models that wait by themselves, as with early stopping
  int stops = 0;                // in a hundred: how many iterations are a watcher's last one
  int fails = 0;                // in ten thousand: how many tasks end their model
  std::vector<int> starts = {0};
  uint32_t seed = 1;

  std::string Text() const {
    return std::to_string(models) + " models, " + std::to_string(train) + "+" +
           std::to_string(valid) + " partitions, budget " + std::to_string(budget) + ", " +
           std::to_string(iterations) + " iterations, " + std::to_string(workers) + " workers, " +
           std::to_string(watchers) + " watchers, seed " + std::to_string(seed);
  }
};

// A run whose visits take random times.
class Simulation {
 public:
  explicit Simulation(const Setting& setting)
      : setting_(setting),
        window_(std::vector<int64_t>(static_cast<size_t>(setting.train), setting.train_bytes),
                std::vector<int64_t>(static_cast<size_t>(setting.valid), setting.valid_bytes),
                setting.budget),
        ring_(setting.train, setting.starts),
        random_(setting.seed) {
    for (int key = 1; key <= setting.models; ++key) {
      Model model;
      model.key = key;
      model.cost = Draw(1, 8);
      model.watches = setting.waits || key <= setting.watchers;
      model.target = setting.iterations;
      models_.push_back(model);
    }
  }

  // What went wrong; "" is nothing.
  std::string Run() {
    for (Model& model : models_) Travel(model);
    int64_t steps = 0;
    for (; problem_.empty(); ++steps) {
      Request();
      while (static_cast<int>(tasks_.size()) < setting_.workers && StartTask()) {
      }
      Require(window_.bytes() <= setting_.budget, "more memory was taken than there is");
      if (tasks_.empty() && !loading_) break;
      Require(steps < MostSteps(), "the run does not end");
      Step();
    }
    for (const Model& model : models_) {
      Require(model.failed || model.iterations == model.target, "a model waits for ever");
    }
    Require(passes_.empty(), "an evaluation waits for ever");
    return problem_;
  }
  const std::array<int, 2>& loads() const { return loads_; }  // by split

 private:
  struct Model {
    int key = 0, iterations = 0, visit = 0, cost = 0, target = 0;
    bool watches = false, busy = false, failed = false;
  };
  struct Pass {
    int id, model, split;
    std::vector<int> left;  // partitions that nobody has taken
    int unfinished;
  };
  struct Task {
    int ends, model, split, partition;
    int pass;  // its id; 0: training
  };

  int Draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  void Require(bool holds, const char* problem) {
    if (!holds && problem_.empty()) problem_ = problem;
  }
  // Each task and each load is a step, and a model may need a load for itself.
  int64_t MostSteps() const {
    const int64_t partitions = int64_t{setting_.train} * 2 + setting_.valid;
    return 2 * partitions * setting_.models * (setting_.iterations + 1) + 100;
  }
  Model& Of(int key) { return models_[static_cast<size_t>(key - 1)]; }
  // It does not know yet whether it goes on.
  bool Decides(const Model& model) const {
    return model.watches && std::any_of(passes_.begin(), passes_.end(),
                                        [&](const Pass& pass) { return pass.model == model.key; });
  }
  void Travel(const Model& model) {
    const int64_t visits = int64_t{model.target - model.iterations} * setting_.train - model.visit;
    window_.SetRider(model.key, ring_.PartitionOf(model.key, model.visit),
                     model.failed || Decides(model) ? 0 : visits);
  }
  void Request() {
    std::vector<PartitionWindow::Place> dropped;
    if (!window_.NextLoad(&load_, &dropped)) return;
    for (const auto& place : dropped) {
      for (const Task& task : tasks_) {
        Require(task.split != place.split || task.partition != place.partition,
                "a partition was dropped while a task reads it");
      }
      Require(!window_.IsLoaded(place.split, place.partition), "a dropped partition is there");
    }
    Require(!loading_, "two partitions are read at once");
    loading_ = true;
    load_ends_ = now_ + Draw(0, 6);
    ++loads_[static_cast<size_t>(load_.split)];
  }
  bool StartTask() {
    for (Pass& pass : passes_) {
      const auto at = std::find_if(pass.left.begin(), pass.left.end(), [&](int partition) {
        return window_.IsLoaded(pass.split, partition);
      });
      if (at == pass.left.end()) continue;
      const int partition = *at;
      pass.left.erase(at);
      window_.Pin(pass.split, partition);
      window_.Unwant(pass.split, partition);
      tasks_.push_back({now_ + 1, pass.model, pass.split, partition, pass.id});
      return true;
    }
    for (Model& model : models_) {
      const int partition = ring_.PartitionOf(model.key, model.visit);
      if (model.failed || model.busy || model.iterations == model.target || Decides(model)) {
        continue;
      }
      if (!window_.IsLoaded(0, partition)) continue;
      model.busy = true;
      window_.Pin(0, partition);
      tasks_.push_back({now_ + model.cost, model.key, 0, partition, 0});
      return true;
    }
    return false;
  }
  void Step() {
    int next = loading_ ? load_ends_ : 1 << 30;
    for (const Task& task : tasks_) next = std::min(next, task.ends);
    now_ = std::max(now_, next);
    if (loading_ && load_ends_ <= now_) {
      window_.FinishLoad();
      Require(window_.IsLoaded(load_.split, load_.partition), "what was read is not there");
      loading_ = false;
      return;
    }
    const auto at = std::find_if(tasks_.begin(), tasks_.end(),
                                 [&](const Task& task) { return task.ends <= now_; });
    const Task task = *at;
    tasks_.erase(at);
    Finish(task);
    window_.Unpin(task.split, task.partition);
  }
  void Finish(const Task& task) {
    Model& model = Of(task.model);
    Require(window_.IsLoaded(task.split, task.partition), "a task read what is not there");
    if (task.pass == 0) model.busy = false;
    if (model.failed) return;
    if (setting_.fails > 0 && Draw(0, 9999) < setting_.fails) {
      Fail(&model);
      return;
    }
    if (task.pass != 0) {
      const auto pass = std::find_if(passes_.begin(), passes_.end(),
                                     [&](const Pass& one) { return one.id == task.pass; });
      if (--pass->unfinished == 0) {
        passes_.erase(pass);
        Decide(&model);
      }
      if (!model.busy) Travel(model);
      return;
    }
    if (++model.visit == setting_.train) {
      model.visit = 0;
      ++model.iterations;
      if (setting_.evaluate_valid) AddPass(model, 1, setting_.valid);
      if (setting_.evaluate_train && (setting_.every || model.iterations == model.target)) {
        AddPass(model, 0, setting_.train);
      }
      Decide(&model);
    }
    Travel(model);
  }
  void Decide(Model* model) {
    if (!model->watches || Decides(*model) || Draw(0, 99) >= setting_.stops) return;
    model->target = model->iterations;
  }
  void Fail(Model* model) {
    model->failed = true;
    for (auto pass = passes_.begin(); pass != passes_.end();) {
      if (pass->model != model->key) {
        ++pass;
        continue;
      }
      for (const int partition : pass->left) window_.Unwant(pass->split, partition);
      pass = passes_.erase(pass);
    }
    Travel(*model);
  }
  void AddPass(const Model& model, int split, int partitions) {
    if (partitions == 0) return;
    Pass pass = {++last_pass_, model.key, split, {}, partitions};
    for (int p = 0; p < partitions; ++p) {
      pass.left.push_back(p);
      window_.Want(split, p);
    }
    passes_.push_back(pass);
  }

  const Setting setting_;
  PartitionWindow window_;
  const Ring ring_;
  std::mt19937 random_;
  std::vector<Model> models_;
  std::deque<Pass> passes_;
  std::vector<Task> tasks_;
  PartitionWindow::Place load_;
  bool loading_ = false;
  int load_ends_ = 0;
  int now_ = 0;
  int last_pass_ = 0;
  std::array<int, 2> loads_ = {0, 0};
  std::string problem_;
};

inline std::vector<int> Starts(int partitions, int each) {
  std::vector<int> starts;
  for (int p = 0; p < partitions; p += each) starts.push_back(p);
  return starts;
}

// Anything that a small run may be.
inline Setting RandomSetting(std::mt19937* random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(*random);
  };
  Setting setting;
  setting.seed = static_cast<uint32_t>((*random)());
  setting.models = draw(1, 9);
  setting.train = draw(1, 8);
  setting.valid = draw(0, 4);
  setting.train_bytes = draw(1, 10);
  setting.valid_bytes = draw(1, 10);
  const int largest = std::max(setting.train_bytes, setting.valid == 0 ? 0 : setting.valid_bytes);
  setting.budget = draw(largest, largest * 6);
  setting.iterations = draw(1, 5);
  setting.workers = draw(1, 4);
  setting.evaluate_train = draw(0, 1) == 1;
  setting.every = draw(0, 1) == 1;
  setting.evaluate_valid = setting.valid > 0;
  setting.watchers = draw(0, 1) * draw(0, setting.models);
  setting.stops = draw(0, 40);
  setting.fails = draw(0, 1) * draw(0, 300);
  setting.starts = Starts(setting.train, draw(1, 3));
  return setting;
}

}  // namespace hopper
