#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "search/drive.h"

namespace hopper {
namespace {

// "units" is part of the architecture, "lr" is not.
std::shared_ptr<const SearchSpace> Space() {
  std::vector<Problem> problems;
  SearchSpace space = ParseSearchSpace(
      R"({"parameters": {"lr": {"type": "float", "low": 1e-4, "high": 1, "scale": "log"},
                         "units": [16, 32, 64], "batch": [8, 16, 32]},
          "model_id": 1,
          "compile_params": {"loss": "mse", "optimizer": {"class_name": "Adam", "config":
             {"learning_rate": {"hopper": "lr"}}}},
          "fit_params": {"batch_size": {"hopper": "batch"}}})",
      {{1, R"({"units": {"hopper": "units"}})"}}, &problems);
  EXPECT_TRUE(problems.empty());
  return std::make_shared<SearchSpace>(std::move(space));
}

TEST(Pbt, TheWorstGoOnFromTheBest) {
  const auto space = Space();
  Search search(RequestOf(space, "pbt", "population=8, generations=6, interval=2"));
  Drive(&search,
        [](const SearchPoint& p, int64_t) { return Loss(std::abs(std::log10(p[0]) + 2)); });
  int64_t children = 0;
  for (const Trial& trial : search.journal().trials()) {
    if (trial.parent < 0) continue;
    ++children;
    const Trial& parent = search.journal().trial(trial.parent);
    EXPECT_GE(trial.parent_resource, 2);
    EXPECT_GE(parent.resource, trial.parent_resource);
    // Weights stay with their architecture.
    EXPECT_EQ(trial.point[1], parent.point[1]);
    EXPECT_LE(parent.ResultAt(trial.parent_resource)->resource, trial.parent_resource);
    for (const TrialResult& result : trial.results)
      EXPECT_GT(result.resource, trial.parent_resource);
  }
  // Two of eight after each of five generations.
  EXPECT_EQ(children, 10);
  EXPECT_EQ(Count(search, DecisionKind::kExploited), 10);
  EXPECT_EQ(Count(search, DecisionKind::kCompleted), 8);
  // Each generation trains eight models.
  EXPECT_EQ(search.iterations(), 8 * 6 * 2);
}

// What decides whether a part of the architecture is there stays with it.
TEST(Pbt, WhatTheArchitectureDependsOnStays) {
  std::vector<Problem> problems;
  SearchSpace parsed = ParseSearchSpace(
      R"({"parameters": {"lr": {"type": "float", "low": 1e-4, "high": 1, "scale": "log"},
                         "kind": ["plain", "deep"],
                         "units": {"type": "choice", "values": [16, 32], "when": {"kind": "deep"}}},
          "model_id": 1,
          "compile_params": {"loss": "mse", "optimizer": {"class_name": "Adam", "config":
             {"learning_rate": {"hopper": "lr"}}}}})",
      {{1, R"({"units": {"hopper": "units"}})"}}, &problems);
  ASSERT_TRUE(problems.empty());
  const auto shared = std::make_shared<SearchSpace>(std::move(parsed));
  EXPECT_FALSE(shared->ShapesNetwork(0));
  EXPECT_TRUE(shared->ShapesNetwork(1));
  Search search(RequestOf(shared, "pbt", "population=8, generations=12, resample=0.9"));
  Drive(&search,
        [](const SearchPoint& p, int64_t) { return Loss(std::abs(std::log10(p[0]) + 2)); });
  for (const Trial& trial : search.journal().trials()) {
    if (trial.parent < 0) continue;
    const SearchPoint& parent = search.journal().trial(trial.parent).point;
    EXPECT_EQ(shared->StructureText(trial.point), shared->StructureText(parent));
    EXPECT_EQ(trial.point[1], parent[1]);
  }
}

// When a child begins its parent has not gone on from the state that the child takes.
TEST(Pbt, ChildrenBeginBeforeTheirParentsGoOn) {
  for (const int64_t seats : {1, 3, 8}) {
    SearchRequest request = RequestOf(Space(), "pbt", "population=8, generations=4");
    request.seats = seats;
    Search search(std::move(request));
    std::map<int64_t, int64_t> begun;
    int64_t children = 0;
    while (!search.done()) {
      const auto works = search.Ask();
      for (const SearchAssignment& work : works) {
        EXPECT_EQ(work.resource, work.from + 1);
        if (work.parent >= 0) {
          ++children;
          EXPECT_EQ(begun[work.parent], work.from);
        } else {
          EXPECT_EQ(begun[work.trial], work.from);
        }
        begun[work.trial] = work.resource;
      }
      for (const SearchAssignment& work : works) {
        search.Tell(work.trial, Loss(search.journal().trial(work.trial).point[0]));
      }
    }
    EXPECT_EQ(children, 6) << seats;
  }
}

// With no more configurations the ones that there are train on: none is listed that never began,
// and none is stopped for a child that there is not.
TEST(Pbt, TheBudgetOfConfigurationsEndsTheChildren) {
  for (const int64_t most : {4, 8, 9, 11}) {
    SearchRequest request = RequestOf(Space(), "pbt", "population=8, generations=4");
    request.max_configs = most;
    Search search(std::move(request));
    Drive(&search,
          [](const SearchPoint& p, int64_t) { return Loss(std::abs(std::log10(p[0]) + 2)); });
    EXPECT_EQ(static_cast<int64_t>(search.journal().trials().size()), most);
    for (const Trial& trial : search.journal().trials()) EXPECT_FALSE(trial.results.empty());
    const int64_t population = std::min<int64_t>(8, most);
    EXPECT_EQ(search.iterations(), population * 4) << most;
    EXPECT_EQ(Count(search, DecisionKind::kExploited), most - population);
    EXPECT_EQ(Count(search, DecisionKind::kStopped), most - population);
    EXPECT_EQ(Count(search, DecisionKind::kCompleted), population);
    EXPECT_EQ(Count(search, DecisionKind::kExhausted), 1);
  }
}

TEST(Pbt, FailuresAreReplaced) {
  Search search(RequestOf(Space(), "pbt", "population=6, generations=3"));
  Drive(&search, [](const SearchPoint& p, int64_t resource) {
    return p[0] > 0.01 && resource == 1 ? Failure("diverged") : Loss(p[0]);
  });
  EXPECT_EQ(search.iterations(), 18);
  EXPECT_TRUE(search.best().has_value());
  Search all_fail(RequestOf(Space(), "pbt", "population=6, generations=3"));
  Drive(&all_fail, [](const SearchPoint&, int64_t) { return Failure("diverged"); });
  EXPECT_EQ(all_fail.iterations(), 6);
  EXPECT_FALSE(all_fail.best().has_value());
}

}  // namespace
}  // namespace hopper
