// Whether larger values of a metric are better: by its name as by what was parsed.
#include <gtest/gtest.h>

#include "params/metric_params.h"
#include "params/problems.h"

namespace hopper {
namespace {

// The parsed metric, with the argument that it may need.
MetricParams ParsedLoss(const std::string& name) {
  for (const char* arguments : {"", "(0.5)", "(target_class_ids=[0])"}) {
    std::vector<ParamProblem> problems;
    const CompileParams compile = ParseCompileParams(
        "loss='mse', optimizer='sgd', metrics=['" + name + arguments + "']", &problems);
    if (problems.empty()) return compile.metrics.at(0);
  }
  ADD_FAILURE() << name << " does not parse";
  return {};
}

TEST(Direction, AMetricsNameSaysWhatItsRowSays) {
  for (const std::string& name : MetricNames(true)) {
    const MetricParams metric = ParsedLoss(name);
    EXPECT_EQ(NamedDirection(metric.name), MetricDirection(metric)) << name;
    EXPECT_EQ(NamedDirection(name), MetricDirection(metric)) << name;
  }
  EXPECT_GT(MetricNames(true).size(), 60u);
}

TEST(Direction, ExpressionsSayItThemselves) {
  for (const char* text :
       {"expr max: y - p", "expr max name: y - p", "expr min: y - p", "expr name: y - p"}) {
    EXPECT_EQ(NamedDirection(text), MetricDirection(ParsedLoss(text))) << text;
  }
  EXPECT_EQ(NamedDirection("expr max: y - p"), Direction::kUp);
  EXPECT_EQ(NamedDirection("expr maximum: y - p"), Direction::kDown);
}

TEST(Direction, OtherNamesAreErrors) {
  for (const char* name : {"", "acuracy", "top_0_accuracy", "mean", "ctc", "(", "{", "val_loss"}) {
    EXPECT_THROW(NamedDirection(name), Error) << name;
  }
}

TEST(Direction, NamesAsMonitorHasThemAreHinted) {
  for (const char* name : {"auc", "loss", "top_5_accuracy", "churn_loss", "my_grade_accuracy"}) {
    try {
      NamedDirection(std::string("val_") + name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.problem().hint, std::string("Perhaps you meant \"") + name + "\".");
    }
  }
}

}  // namespace
}  // namespace hopper
