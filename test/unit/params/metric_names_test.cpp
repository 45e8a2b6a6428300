// What metrics are called: by their arguments, by Keras' numbers, in results and for what watches
// them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "params/metric_params.h"
#include "params/monitor.h"
#include "params/problems.h"
#include "params/ranking.h"

namespace hopper {
namespace {

CompileParams WithMetrics(const std::string& metrics) {
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams(
      "loss='binary_crossentropy', optimizer='sgd', metrics=" + metrics, &problems);
  for (const ParamProblem& problem : problems) ADD_FAILURE() << metrics << ": " << problem.message;
  return compile;
}

std::vector<std::string> Shown(const CompileParams& compile) {
  std::vector<std::string> names;
  for (const MetricParams& metric : compile.metrics) names.push_back(metric.name);
  return names;
}

using Strings = std::vector<std::string>;

// The table is made by real Keras (test/baseline/generate_keras_metric_names.py).
TEST(MetricNames, AreKeras) {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_metric_names.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 10U);
  for (const auto& one : cases) {
    const std::string metrics = one["metrics"];
    const CompileParams compile = WithMetrics(metrics);
    Strings labels;
    for (const MetricParams& metric : compile.metrics) labels.push_back(MetricLabel(metric));
    EXPECT_EQ(labels, one["names"].get<Strings>()) << metrics;
    for (size_t i = 0; i < labels.size(); ++i) {
      const auto watched = FindWatched(compile, "val_" + labels[i]);
      ASSERT_TRUE(watched.has_value()) << labels[i];
      EXPECT_EQ(watched->metric, static_cast<int>(i)) << metrics;
    }
  }
}

TEST(MetricNames, ResultsShowTheNameThatArgumentsGive) {
  EXPECT_EQ(Shown(WithMetrics("[tf.keras.metrics.AUC(name='prc',curve='PR'), 'AUC(name=\"roc\")', "
                              "AUC(), 'accuracy', 'accuracy']")),
            (Strings{"prc", "roc", "AUC()", "accuracy", "accuracy_1"}));
  EXPECT_EQ(Shown(WithMetrics("{'a': [AUC(name='x'), AUC(name='x')], 'b': [AUC(name='x')]}")),
            (Strings{"a_x", "a_x_1", "b_x"}));
  std::vector<ParamProblem> problems;
  const CompileParams json = ParseCompileParams(
      R"({"loss": "mse", "optimizer": "sgd", "metrics": [{"class_name": "AUC", "config":
          {"name": "prc", "curve": "PR"}}]})",
      &problems);
  EXPECT_EQ(Shown(json), Strings{"prc"});
  EXPECT_EQ(MetricIdentity(json.metrics[0]), "auc(curve='PR')");
}

TEST(MetricNames, AreNoPartOfWhatIsComputed) {
  const CompileParams compile = WithMetrics("[AUC(name='x'), AUC(), AUC(curve='PR', name='y')]");
  EXPECT_EQ(MetricIdentity(compile.metrics[0]), MetricIdentity(compile.metrics[1]));
  EXPECT_EQ(MetricIdentity(compile.metrics[2]), "auc(curve='PR')");
  // Models are compared by what they compute, under whatever name.
  const std::vector<RankedConfig> configs = {
      {"loss='mse', optimizer='sgd', metrics=['mae', AUC(name='x')]", {}},
      {"loss='mse', optimizer='sgd', metrics=[AUC(name='y')]", {}}};
  const std::vector<Ranked> ranked = RankConfigs(configs, "x", false);
  EXPECT_EQ(ranked[0].metric, 1);
  EXPECT_EQ(ranked[1].metric, 0);
  EXPECT_EQ(ranked[0].direction, Direction::kUp);
  EXPECT_EQ(ranked[0].name, "x");
}

TEST(MetricNames, SomeAreRefused) {
  for (const char* name : {"'loss'", "''", "3"}) {
    std::vector<ParamProblem> problems;
    (void)ParseCompileParams(
        std::string("loss='mse', optimizer='sgd', metrics=[AUC(name=") + name + ")]", &problems);
    ASSERT_EQ(problems.size(), 1U) << name;
    EXPECT_EQ(problems[0].message, std::string("metric \"AUC\" cannot have the name ") + name);
  }
}

}  // namespace
}  // namespace hopper
