// Partitions that come and go: a run is simulated, and nothing may be read that is not there, no
// more memory be taken than there is, nobody wait forever, and nothing be read too often.
#include "schedule/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schedule/ring.h"

namespace hopper {
namespace {

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
  bool waits = false;           // the next iteration begins after the validation
  std::vector<int> starts = {0};
  uint32_t seed = 1;

  std::string Text() const {
    return std::to_string(models) + " models, " + std::to_string(train) + "+" +
           std::to_string(valid) + " partitions, budget " + std::to_string(budget) + ", " +
           std::to_string(iterations) + " iterations, " + std::to_string(workers) +
           " workers, seed " + std::to_string(seed);
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
      models_.push_back({key, 0, 0, 0, false});
      std::uniform_int_distribution<int> cost(1, 8);
      models_.back().cost = cost(random_);
    }
  }

  // Loads by split.
  std::array<int, 2> Run() {
    for (Model& model : models_) Travel(model);
    for (int64_t step = 0; step < 1000000; ++step) {
      Request();
      while (static_cast<int>(tasks_.size()) < setting_.workers && StartTask()) {
      }
      EXPECT_LE(window_.bytes(), setting_.budget);
      if (tasks_.empty() && !loading_) break;
      Step();
    }
    for (const Model& model : models_) {
      EXPECT_EQ(model.iterations, setting_.iterations) << "model " << model.key << " waits forever";
    }
    EXPECT_TRUE(passes_.empty()) << "an evaluation waits forever";
    return loads_;
  }

 private:
  struct Model {
    int key, iterations, visit, cost;
    bool busy;
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

  bool Waits(const Model& model) const {
    return setting_.waits && std::any_of(passes_.begin(), passes_.end(), [&](const Pass& pass) {
             return pass.model == model.key && pass.split == 1;
           });
  }
  void Travel(const Model& model) {
    const int64_t visits =
        int64_t{setting_.iterations - model.iterations} * setting_.train - model.visit;
    window_.SetTraveller(model.key, ring_.PartitionOf(model.key, model.visit),
                         Waits(model) ? 0 : visits);
  }
  void Request() {
    std::vector<PartitionWindow::Place> dropped;
    if (!window_.NextLoad(&load_, &dropped)) return;
    for (const auto& place : dropped) {
      for (const Task& task : tasks_) {
        EXPECT_FALSE(task.split == place.split && task.partition == place.partition)
            << "dropped while a task reads it";
      }
      EXPECT_FALSE(window_.IsLoaded(place.split, place.partition));
    }
    EXPECT_FALSE(loading_);
    loading_ = true;
    load_ends_ = now_ + std::uniform_int_distribution<int>(0, 6)(random_);
    ++loads_[static_cast<size_t>(load_.split)];
  }
  bool StartTask() {
    for (size_t i = 0; i < passes_.size(); ++i) {
      std::vector<int>& left = passes_[i].left;
      const auto at = std::find_if(left.begin(), left.end(), [&](int partition) {
        return window_.IsLoaded(passes_[i].split, partition);
      });
      if (at == left.end()) continue;
      const int partition = *at;
      left.erase(at);
      window_.Pin(passes_[i].split, partition);
      window_.Unwant(passes_[i].split, partition);
      tasks_.push_back({now_ + 1, passes_[i].model, passes_[i].split, partition, passes_[i].id});
      return true;
    }
    for (Model& model : models_) {
      const int partition = ring_.PartitionOf(model.key, model.visit);
      if (model.busy || model.iterations == setting_.iterations || Waits(model)) continue;
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
      EXPECT_TRUE(window_.IsLoaded(load_.split, load_.partition));
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
    Model& model = models_[static_cast<size_t>(task.model - 1)];
    EXPECT_TRUE(window_.IsLoaded(task.split, task.partition));
    if (task.pass != 0) {
      const auto pass = std::find_if(passes_.begin(), passes_.end(),
                                     [&](const Pass& one) { return one.id == task.pass; });
      if (--pass->unfinished == 0) {
        passes_.erase(pass);
        if (!model.busy) Travel(model);
      }
      return;
    }
    model.busy = false;
    if (++model.visit == setting_.train) {
      model.visit = 0;
      ++model.iterations;
      if (setting_.evaluate_valid) AddPass(model, 1, setting_.valid);
      if (setting_.evaluate_train && model.iterations == setting_.iterations) {
        AddPass(model, 0, setting_.train);
      }
    }
    Travel(model);
  }
  void AddPass(const Model& model, int split, int partitions) {
    Pass pass = {++last_pass_, model.key, split, {}, partitions};
    for (int p = 0; p < partitions; ++p) {
      pass.left.push_back(p);
      window_.Want(split, p);
    }
    passes_.push_back(pass);
  }

  Setting setting_;
  PartitionWindow window_;
  Ring ring_;
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
};

std::vector<int> Starts(int partitions, int each) {
  std::vector<int> starts;
  for (int p = 0; p < partitions; p += each) starts.push_back(p);
  return starts;
}

TEST(Window, AModelAloneReadsEachPartitionOnceAnIteration) {
  Setting setting;
  setting.models = 1;
  setting.iterations = 4;
  for (const int64_t budget : {10, 20}) {
    setting.budget = budget;
    EXPECT_EQ(Simulation(setting).Run()[0], 4 * 5);
  }
}

TEST(Window, WhatFitsIsReadOnce) {
  Setting setting;
  setting.models = 4;
  setting.starts = Starts(5, 1);
  setting.budget = 50;
  setting.iterations = 9;
  EXPECT_EQ(Simulation(setting).Run()[0], 5);
}

// Memory for more than the two partitions in work keeps others from one round to the next.
TEST(Window, MoreMemoryReadsLess) {
  Setting setting;
  setting.models = 1;
  setting.train = 10;
  setting.iterations = 10;
  int last = 1000;
  for (int64_t slots = 2; slots <= 10; slots += 2) {
    setting.budget = slots * setting.train_bytes;
    const int loads = Simulation(setting).Run()[0];
    EXPECT_LT(loads, last) << slots;
    EXPECT_LE(loads, 10 + 9 * (12 - slots)) << slots;
    last = loads;
  }
}

TEST(Window, ServesAllThatIsDueAndReadsNothingTooOften) {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (uint32_t i = 0; i < 4000; ++i) {
    Setting setting;
    setting.seed = i;
    setting.models = draw(1, 9);
    setting.train = draw(1, 8);
    setting.valid = draw(0, 4);
    setting.train_bytes = draw(1, 10);
    setting.valid_bytes = draw(1, 10);
    const int largest = std::max(setting.train_bytes, setting.valid == 0 ? 0 : setting.valid_bytes);
    setting.budget = draw(largest, largest * 6);
    setting.iterations = draw(1, 4);
    setting.workers = draw(1, 4);
    setting.evaluate_train = draw(0, 1) == 1;
    setting.evaluate_valid = setting.valid > 0;
    setting.waits = setting.evaluate_valid && draw(0, 3) == 0;
    setting.starts = Starts(setting.train, draw(1, 3));
    const std::array<int, 2> loads = Simulation(setting).Run();
    if (HasFailure()) FAIL() << setting.Text();
    // Who waits for a validation may miss the sweep.
    if (setting.waits) continue;
    const int rounds = setting.iterations + 1;
    EXPECT_LE(loads[0], setting.train * (rounds + (setting.evaluate_train ? 1 : 0)))
        << setting.Text();
    EXPECT_LE(loads[1], setting.valid * rounds) << setting.Text();
  }
}

// A budget of one partition: as many loads as there are steps of the sweep, and not one more.
TEST(Window, OneSlotWorks) {
  Setting setting;
  setting.budget = 10;
  setting.models = 8;
  setting.starts = Starts(5, 1);
  setting.iterations = 6;
  setting.valid = 2;
  setting.evaluate_valid = true;
  setting.evaluate_train = true;
  const std::array<int, 2> loads = Simulation(setting).Run();
  EXPECT_LE(loads[0], 5 * 8);
  EXPECT_LE(loads[1], 2 * 7);
}

}  // namespace
}  // namespace hopper
