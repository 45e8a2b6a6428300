#include "params/other_names.h"

#include <gtest/gtest.h>

#include "params/callable.h"
#include "params/loss_names.h"
#include "params/metric_type.h"
#include "params/optimizer_params.h"
#include "params/params.h"

namespace hopper {
namespace {

// What other tools call things is answered with their names here, in every spelling.
TEST(OtherNames, AreAnsweredWithOurs) {
  const auto hint = [](const std::string& text) {
    std::vector<ParamProblem> problems;
    ParseCompileParams(text, &problems);
    return problems.size() == 1 ? problems[0].message + " | " + problems[0].hint : "";
  };
  const auto loss = [&](const std::string& name) {
    return hint("optimizer='sgd', loss='" + name + "'");
  };
  const auto metric = [&](const std::string& name) {
    return hint("optimizer='sgd', loss='mse', metrics=['" + name + "']");
  };
  const std::string either = "\"categorical_crossentropy\" or \"binary_crossentropy\".";
  for (const char* name : {"log_loss", "logloss", "LogLoss", "cross_entropy", "CrossEntropyLoss"}) {
    EXPECT_EQ(loss(name),
              "loss \"" + std::string(name) + "\" is not known | Perhaps you meant " + either);
  }
  EXPECT_EQ(loss("nll_loss"),
            "loss \"nll_loss\" is not known | Perhaps you meant \"categorical_crossentropy\".");
  EXPECT_EQ(loss("l1"), "loss \"l1\" is not known | Perhaps you meant \"mean_absolute_error\".");
  EXPECT_EQ(loss("l2"), "loss \"l2\" is not known | Perhaps you meant \"mean_squared_error\".");
  EXPECT_EQ(metric("roc_auc"), "metric \"roc_auc\" is not known | Perhaps you meant \"auc\".");
  EXPECT_EQ(metric("f1"), "metric \"f1\" is not known | Perhaps you meant \"f1_score\".");
  EXPECT_EQ(metric("log_loss"),
            "metric \"log_loss\" is not known | Perhaps you meant \"crossentropy\".");
  EXPECT_EQ(hint("optimizer='sgd', loss='mse', criterion='mse'"),
            "compile_params has no argument \"criterion\" | Perhaps you meant \"loss\".");
  EXPECT_EQ(hint("optimizer='sgd', loss='mse', lr=0.1"),
            "compile_params has no argument \"lr\" | It is the optimizer's: write "
            "optimizer='Adam(lr=...)'.");
  EXPECT_EQ(hint("optimizer='sgd', loss='mse', batch_size=32"),
            "compile_params has no argument \"batch_size\" | It belongs to the fit parameters.");
  EXPECT_EQ(hint("optimizer='Adam(eps=1e-6)', loss='mse'"),
            "optimizer \"Adam\" has no argument \"eps\" | Perhaps you meant \"epsilon\".");
}

TEST(OtherNames, LeadToThingsThatAreThere) {
  for (const OtherName& other : OtherLossNames()) {
    EXPECT_FALSE(FindLoss(other.theirs)) << other.theirs;
    for (const std::string& ours : other.ours) {
      EXPECT_TRUE(FindLoss(SnakeCase(ours.substr(0, ours.find('('))))) << ours;
    }
  }
  for (const OtherName& other : OtherMetricNames()) {
    EXPECT_EQ(FindMetric(other.theirs), nullptr) << other.theirs;
    for (const std::string& ours : other.ours) {
      const std::string name = SnakeCase(ours.substr(0, ours.find('(')));
      EXPECT_TRUE(FindMetric(name) != nullptr || FindLoss(name)) << ours;
    }
  }
  for (const OtherName& other : OtherOptimizerArguments()) {
    for (const std::string& ours : other.ours) EXPECT_TRUE(IsOptimizerArgument(ours)) << ours;
  }
}

}  // namespace
}  // namespace hopper
