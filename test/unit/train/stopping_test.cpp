// Early stopping and ReduceLROnPlateau against what Keras' callbacks decided
// (test/baseline/generate_keras_callbacks.py).
#include "train/stopping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "params/params.h"

namespace hopper {
namespace {

using nlohmann::json;

double Number(const json& value) {
  return value.is_string() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

CompileParams Compile(double learning_rate) {
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams(
      "optimizer='SGD()', loss='mse', metrics=['accuracy', 'mae', 'AUC()']", &problems);
  EXPECT_TRUE(problems.empty());
  compile.optimizer.learning_rate = learning_rate;
  return compile;
}

FitParams Fit(const std::string& text) {
  std::vector<ParamProblem> problems;
  FitParams fit = ParseFitParams(text, &problems);
  EXPECT_TRUE(problems.empty()) << text << ": " << problems.front().message;
  return fit;
}

// "val_accuracy" and the like; a missing value stays unknown.
Observed ObservedOf(const json& values) {
  Observed observed;
  for (const auto& [key, value] : values.items()) {
    if (value.is_null()) continue;
    const bool validation = key.rfind("val_", 0) == 0;
    const std::string name = validation ? key.substr(4) : key;
    Observed::Split& split = observed.splits[validation ? 1 : 0];
    split.known = true;
    split.metrics.assign(3, -1.0);
    if (name == "loss") {
      split.loss = Number(value);
    } else {
      split.metrics[name == "accuracy" ? 0 : name == "mae" ? 1 : 2] = Number(value);
    }
  }
  return observed;
}

void Compare(const json& one, const std::string& fit_text) {
  SCOPED_TRACE(fit_text + " of " + one["values"].dump());
  const Stopping stopping(Compile(one["learning_rate"]), Fit(fit_text), "");
  MonitorState state;
  stopping.Adopt(&state);
  const json& epochs = one["epochs"];
  for (size_t i = 0; i < epochs.size(); ++i) {
    const json& wanted = epochs[i];
    const auto iteration = static_cast<int64_t>(i) + 1;
    const float weight = static_cast<float>(iteration);
    stopping.Decide(iteration, ObservedOf(one["values"][i]), &weight, 1, &state);
    SCOPED_TRACE("iteration " + std::to_string(iteration));
    EXPECT_EQ(stopping.LearningRate(state), wanted["learning_rate"].get<float>());
    if (wanted.contains("wait")) {
      EXPECT_EQ(state.wait, wanted["wait"].get<int64_t>());
      EXPECT_EQ(Stopping::Stopped(state), wanted["stopped"].get<bool>());
      EXPECT_EQ(state.has_best, !wanted["best"].is_null());
      if (state.has_best) {
        EXPECT_EQ(state.best_iteration, wanted["best_iteration"].get<int64_t>());
      }
      if (state.has_best && !std::isnan(state.best)) {
        EXPECT_EQ(state.best, Number(wanted["best"]));
      }
    }
    if (wanted.contains("plateau_wait")) {
      EXPECT_EQ(state.plateau_wait, wanted["plateau_wait"].get<int64_t>());
      EXPECT_EQ(state.cooldown, wanted["cooldown"].get<int64_t>());
    }
  }
  const float last = static_cast<float>(epochs.size());
  const float kept =
      stopping.restores() && state.best_weights.size() != 0 ? state.best_weights[0] : last;
  EXPECT_EQ(kept, one["restored"].get<float>());
}

TEST(Stopping, DecidesAsKerasCallbacks) {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_callbacks.json");
  const json table = json::parse(file);
  int stopped = 0, reduced = 0;
  for (const json& one : table["cases"]) {
    Compare(one, one["fit"]);
    if (!one["flat"].get<std::string>().empty()) Compare(one, one["flat"]);
    stopped += one["epochs"].back().value("stopped", false);
    reduced += one["epochs"].back()["learning_rate"].get<double>() <
               one["epochs"].front()["learning_rate"].get<double>();
  }
  EXPECT_GT(table["cases"].size(), 300U);
  EXPECT_GT(stopped, 80);
  EXPECT_GT(reduced, 80);
}

TEST(Stopping, DropsWhatAnotherRuleCounted) {
  const CompileParams compile = Compile(0.5);
  const auto fit = Fit("patience=1, restore_best=True, reduce_lr_on_plateau={'patience': 1}");
  MonitorState state;
  const Stopping first(compile, fit, "rows");
  first.Adopt(&state);
  const json worse = {{"val_loss", 2.0}};
  const float weight = 1.0F;
  for (int i = 1; i <= 2; ++i) first.Decide(i, ObservedOf(worse), &weight, 1, &state);
  ASSERT_TRUE(Stopping::Stopped(state));
  ASSERT_TRUE(state.reduced);
  ASSERT_EQ(state.best_iteration, 1);

  MonitorState same = state.Clone();
  first.Adopt(&same);
  EXPECT_TRUE(Stopping::Stopped(same));
  EXPECT_EQ(first.LearningRate(same), 0.05F);

  // More patience goes on where the last one ended.
  const Stopping patient(compile, Fit("patience=3, restore_best=True"), "rows");
  MonitorState more = state.Clone();
  patient.Adopt(&more);
  EXPECT_FALSE(Stopping::Stopped(more));
  EXPECT_EQ(more.wait, 1);
  EXPECT_EQ(more.best_weights.size(), 1U);
  EXPECT_EQ(patient.LearningRate(more), 0.5F);

  const Stopping other(compile, Fit("patience=1, monitor='loss'"), "rows");
  MonitorState anew = state.Clone();
  other.Adopt(&anew);
  EXPECT_FALSE(Stopping::Stopped(anew));
  EXPECT_FALSE(anew.has_best);
  EXPECT_EQ(anew.wait, 0);
  EXPECT_EQ(anew.best_weights.size(), 0U);

  const Stopping faster(Compile(0.7), fit, "rows");
  MonitorState rate = state.Clone();
  faster.Adopt(&rate);
  EXPECT_EQ(faster.LearningRate(rate), 0.7F);

  const Stopping elsewhere(compile, fit, "other rows");
  MonitorState moved = state.Clone();
  elsewhere.Adopt(&moved);
  EXPECT_FALSE(Stopping::Stopped(moved));
  EXPECT_FALSE(moved.has_best);
  EXPECT_FALSE(moved.reduced);
  EXPECT_EQ(moved.best_weights.size(), 0U);

  CompileParams smoothed = compile;
  smoothed.loss_options.label_smoothing = 0.25;
  const Stopping of_other_loss(smoothed, fit, "rows");
  MonitorState of_loss = state.Clone();
  of_other_loss.Adopt(&of_loss);
  EXPECT_FALSE(Stopping::Stopped(of_loss));
  EXPECT_FALSE(of_loss.has_best);
  EXPECT_FALSE(of_loss.reduced);

  const Stopping none(compile, Fit(""), "rows");
  MonitorState plain = state.Clone();
  none.Adopt(&plain);
  EXPECT_TRUE(plain.empty());
}

}  // namespace
}  // namespace hopper
