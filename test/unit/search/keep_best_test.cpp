#include "search/keep_best.h"

#include <gtest/gtest.h>

#include "params/params.h"
#include "search/drive.h"
#include "search/measures.h"

namespace hopper {
namespace {

FitParams Kept(const std::string& text) {
  std::vector<ParamProblem> problems;
  FitParams params = ParseFitParams(KeepBest(text, "val_auc"), &problems);
  EXPECT_TRUE(problems.empty()) << text << ": " << problems.front().message;
  return params;
}

TEST(KeepBest, SaysWhatTheTextLeavesOut) {
  EXPECT_EQ(KeepBest("batch_size=16,epochs=1", "val_auc"),
            "batch_size=16,epochs=1,restore_best=True,monitor='val_auc'");
  EXPECT_EQ(KeepBest(R"({"batch_size": 16})", "loss"),
            R"({"batch_size": 16, "restore_best": true, "monitor": "loss"})");
  EXPECT_EQ(KeepBest("", "val_auc"), "restore_best=True,monitor='val_auc'");
  EXPECT_EQ(KeepBest("batch_size=", "val_auc"), "batch_size=");
  EXPECT_EQ(KeepBest("patience=None,monitor=None", "val_auc"),
            "patience=None,monitor='val_auc',restore_best=True");
}

TEST(KeepBest, WhatTheTextSaysStays) {
  EXPECT_EQ(KeepBest("restore_best=False", "val_auc"), "restore_best=False");
  EXPECT_EQ(KeepBest("restore_best_weights=True,monitor='val_loss'", "val_auc"),
            "restore_best_weights=True,monitor='val_loss'");
  const FitParams patient = Kept("patience=3,monitor='val_loss',mode='min'");
  EXPECT_TRUE(patient.early_stopping.restore_best);
  EXPECT_EQ(patient.early_stopping.monitor, "val_loss");
}

TEST(KeepBest, WhatIsWatchedIsTheObjective) {
  EXPECT_EQ(Kept("patience=2,restore_best=False").early_stopping.monitor, "val_auc");
  EXPECT_EQ(Kept("restore_best=True").early_stopping.monitor, "val_auc");
  const FitParams both = Kept("restore_best=False,reduce_lr_on_plateau={'factor': 0.5}");
  EXPECT_EQ(both.plateau.monitor, "val_auc");
  EXPECT_FALSE(both.early_stopping.active());
  const FitParams own = Kept("reduce_lr_on_plateau={'monitor': 'val_loss'}");
  EXPECT_EQ(own.plateau.monitor, "val_loss");
  EXPECT_EQ(own.early_stopping.monitor, "val_auc");
}

TEST(KeepBest, CallbacksHaveArgumentsOfTheirOwn) {
  for (const std::string text : {"callbacks=[EarlyStopping(patience=4), ReduceLROnPlateau()]",
                                 "callbacks='[EarlyStopping(patience=4), ReduceLROnPlateau()]'",
                                 R"j({"callbacks": [{"class_name": "EarlyStopping",
                                      "config": {"patience": 4}}, "ReduceLROnPlateau()"]})j"}) {
    const FitParams params = Kept(text);
    EXPECT_EQ(params.early_stopping.patience, 4);
    EXPECT_TRUE(params.early_stopping.restore_best);
    EXPECT_EQ(params.early_stopping.monitor, "val_auc");
    EXPECT_EQ(params.plateau.monitor, "val_auc");
  }
  const FitParams last = Kept("callbacks=EarlyStopping(restore_best_weights=False)");
  EXPECT_FALSE(last.early_stopping.restore_best);
  EXPECT_EQ(last.early_stopping.monitor, "val_auc");
  const FitParams said = Kept("callbacks=[EarlyStopping(monitor='val_loss', baseline=1)]");
  EXPECT_EQ(said.early_stopping.monitor, "val_loss");
}

TEST(KeepBest, AMonitorIsTheFirstObjectiveOfData) {
  const auto monitor = [](const std::string& objectives, bool validation) {
    std::vector<Problem> problems;
    return MonitorOf(ParseObjectives(objectives, {}, &problems), validation);
  };
  EXPECT_EQ(monitor("overfit_gap, 2 * accuracy, loss", true), "val_accuracy");
  EXPECT_EQ(monitor("parameters", true), "val_loss");
  EXPECT_EQ(monitor("loss", false), "loss");
}

// What early stopping leaves out of a budget is there for other configurations.
TEST(KeepBest, ABudgetIsOfWhatWasTrained) {
  SearchRequest request = RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}})"),
                                    "random", "num_configs=20, num_iterations=12");
  request.max_iterations = 60;
  request.seats = 8;
  Search search(request);
  Drive(&search, [](const SearchPoint& p, int64_t) {
    SearchOutcome outcome = Loss(p[0]);
    outcome.iterations = 2;
    return outcome;
  });
  EXPECT_EQ(search.journal().trials().size(), 20U);
  EXPECT_EQ(search.iterations(), 40);
  EXPECT_EQ(search.journal().trial(0).results.back().iterations, 2);
  // Where it is spent nothing that was proposed is left waiting.
  request.max_iterations = 30;
  Search spent(request);
  Drive(&spent, [](const SearchPoint& p, int64_t) {
    SearchOutcome outcome = Loss(p[0]);
    outcome.iterations = 5;
    return outcome;
  });
  EXPECT_EQ(spent.end_reason(), "the budget of 30 iterations is spent");
  EXPECT_LE(spent.iterations(), 30);
  EXPECT_GT(spent.iterations(), 30 - 12);
  EXPECT_EQ(Count(spent, DecisionKind::kStopped), 1);
}

// A population goes on from states: whose last iteration is the worst is replaced, however good an
// iteration before it was.
TEST(KeepBest, APopulationGoesOnFromTheBestState) {
  const auto space = SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}})");
  Search search(RequestOf(space, "pbt", "population=8, generations=2, interval=1"));
  Drive(&search, [](const SearchPoint& p, int64_t) {
    SearchOutcome outcome = Loss(p[0]);
    outcome.last = {1 - p[0]};
    return outcome;
  });
  const std::vector<Trial>& trials = search.journal().trials();
  std::vector<double> first;
  for (size_t i = 0; i < 8; ++i) first.push_back(trials[i].point[0]);
  std::sort(first.begin(), first.end());
  int64_t children = 0;
  for (const Trial& trial : trials) {
    if (trial.parent < 0) continue;
    ++children;
    EXPECT_GE(trials[static_cast<size_t>(trial.parent)].point[0], first[6]);
  }
  EXPECT_EQ(children, 2);
  // The best of the search is who delivers the best weights.
  const double best = trials[static_cast<size_t>(*search.best())].point[0];
  for (const Trial& trial : trials) EXPECT_LE(best, trial.point[0]);
}

}  // namespace
}  // namespace hopper
