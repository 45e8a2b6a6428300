#include "params/output_params.h"

#include <gtest/gtest.h>

#include "params/problems.h"

namespace hopper {
namespace {

using Strings = std::vector<std::string>;

CompileParams Fitted(const std::string& text, const std::vector<std::string>& outputs,
                     Strings* problems) {
  std::vector<ParamProblem> found;
  CompileParams params = ParseCompileParams("optimizer=SGD, " + text, &found);
  if (found.empty()) FitToOutputs(outputs, true, &params, &found);
  problems->clear();
  for (const ParamProblem& problem : found) problems->push_back(problem.message);
  return params;
}

TEST(OutputParams, OfSeveralOutputsAreSaidAsInKeras) {
  Strings problems;
  const auto names = [](const CompileParams& params) {
    Strings list;
    for (const MetricParams& metric : params.metrics) {
      list.push_back(std::to_string(metric.part) + " " + metric.name);
    }
    return list;
  };
  // By name, in whatever order, by place, and one for all.
  CompileParams params = Fitted(
      "loss={'b': 'mae', 'a': 'mse'}, loss_weights={'b': 2}, metrics={'b': ['mse', 'mape']},"
      " weighted_metrics={'b': 'mse'}",
      {"a", "b"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(params.losses[0].loss, LossKind::kMeanSquaredError);
  EXPECT_EQ(params.losses[1].loss, LossKind::kMeanAbsoluteError);
  EXPECT_EQ(params.losses[0].weight, 1.0);
  EXPECT_EQ(params.losses[1].weight, 2.0);
  EXPECT_EQ(names(params),
            (Strings{"1 b_mse", "1 b_mape", "1 b_weighted_mse", "1 b_loss", "0 a_loss"}));
  params = Fitted("loss=['mse', 'mae'], loss_weights=[1, 0.5], metrics=['mae', ['mse', 'mape']]",
                  {"a", "b"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(params.losses[1].weight, 0.5);
  EXPECT_EQ(names(params), (Strings{"0 a_mae", "1 b_mse", "1 b_mape", "0 a_loss", "1 b_loss"}));
  params = Fitted("loss='mse'", {"a", "b"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(params.losses[1].loss, LossKind::kMeanSquaredError);
  params = Fitted("loss=['mse'], metrics={'a': 'mae'}, loss_weights=3", {"a"}, &problems);
  EXPECT_EQ(problems, Strings{});
  EXPECT_EQ(names(params), Strings{"0 mae"});
  EXPECT_EQ(params.losses[0].weight, 3.0);

  // Two of one name, wherever they stand: places are outputs where there are several.
  for (const char* text :
       {"loss='mse', metrics=['accuracy', 'mse'], weighted_metrics=['mse', 'accuracy']",
        "weighted_metrics=['mse', 'accuracy'], loss='mse', metrics=['accuracy', 'mse']"}) {
    params = Fitted(text, {"a"}, &problems);
    EXPECT_EQ(names(params),
              (Strings{"0 accuracy", "0 mse", "0 weighted_mse", "0 weighted_accuracy"}));
    params = Fitted(text, {"a", "b"}, &problems);
    EXPECT_EQ(names(params), (Strings{"0 a_accuracy", "1 b_mse", "0 a_mse", "1 b_accuracy",
                                      "0 a_loss", "1 b_loss"}));
    NameAsShown({"a_accuracy", "b_mse", "a_mse", "b_accuracy", "a_loss", "b_loss"},
                &(params = ParsedCompileParams("optimizer='sgd', " + std::string(text))));
    EXPECT_EQ(params.metrics[2].name, "a_mse");
    EXPECT_EQ(params.metrics[3].prefix, "b_");
    // As version 0.1 named them.
    NameAsShown({"accuracy", "mse", "mse", "accuracy"},
                &(params = ParsedCompileParams("optimizer='sgd', " + std::string(text))));
    EXPECT_EQ(params.metrics[2].name, "mse");
    NameAsShown({"accuracy", "mse", "weighted_mse", "weighted_accuracy"}, &params);
    EXPECT_EQ(params.metrics[2].name, "weighted_mse");
  }
  params = Fitted("loss='mse', metrics=['mae', 'mse'], weighted_metrics='mse'", {"a"}, &problems);
  EXPECT_EQ(names(params), (Strings{"0 mae", "0 mse", "0 weighted_mse"}));
  params = Fitted("loss='mse', metrics=[['mae'], ['mse']], weighted_metrics=[['mse'], ['mse']]",
                  {"a", "b"}, &problems);
  EXPECT_EQ(names(params),
            (Strings{"0 a_mae", "1 b_mse", "0 a_mse", "1 b_weighted_mse", "0 a_loss", "1 b_loss"}));

  const auto problem = [&](const std::string& text) {
    Fitted(text, {"price", "churn"}, &problems);
    return problems.empty() ? "" : problems[0];
  };
  EXPECT_EQ(problem("loss={'price': 'mse', 'chrn': 'mse'}"),
            "loss names output \"chrn\", which the model does not have");
  EXPECT_EQ(problem("loss={'price': 'mse'}"), "loss says nothing of output \"churn\"");
  EXPECT_EQ(problem("loss=['mse']"), "loss has 1 entry but the model has 2 outputs");
  EXPECT_EQ(problem("loss='mse', loss_weights=[1]"),
            "loss_weights has 1 entry but the model has 2 outputs");
  EXPECT_EQ(problem("loss='mse', metrics=[['mae']]"),
            "metrics do not say which of 2 outputs they are of");
  for (const char* text : {"loss='mse', metrics='mae'", "loss='mse', metrics=['mae']"}) {
    params = Fitted(text, {"a", "b"}, &problems);
    EXPECT_EQ(names(params), (Strings{"0 a_mae", "1 b_mae", "0 a_loss", "1 b_loss"})) << text;
    NameAsShown({"a_mae", "b_mae", "a_loss", "b_loss"},
                &(params = ParsedCompileParams("optimizer='sgd', " + std::string(text))));
    EXPECT_EQ(params.metrics.size(), 4u);
    EXPECT_EQ(params.metrics[1].name, "b_mae");
  }
  EXPECT_EQ(problem("loss='mse', metrics={'prise': 'mae'}"),
            "metrics names output \"prise\", which the model does not have");
  EXPECT_EQ(problem("loss='mse', weighted_metrics={'price': 'auc'}"),
            "metric \"price_auc\" cannot be weighted");
}

}  // namespace
}  // namespace hopper
