// What the models of a run are compared by.
#include "params/ranking.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "params/params.h"

namespace hopper {
namespace {

std::string Params(const std::string& loss, const std::string& metrics) {
  return "loss=" + loss + ", optimizer='sgd', metrics=" + metrics;
}

// "accuracy/1 2, mae/2 1": name, group and place (0: the loss) of each, neighbours that are alike
// once.
std::string ShownOf(const std::vector<RankedConfig>& configs, const std::string& rank_by = "",
                    bool lenient = false) {
  try {
    std::string text;
    std::string last;
    for (const Ranked& one : RankConfigs(configs, rank_by, lenient)) {
      const std::string shown =
          one.name + "/" + std::to_string(one.group + 1) + " " + std::to_string(one.metric + 1);
      if (shown != last) text += (text.empty() ? "" : ", ") + shown;
      last = shown;
    }
    return text;
  } catch (const Error& error) {
    const Problem& problem = error.problem();
    return problem.message + " | " + problem.detail + " | " + problem.hint;
  }
}

std::string ShownRanking(const std::vector<std::string>& params, const std::string& rank_by = "",
                         bool lenient = false) {
  std::vector<RankedConfig> configs;
  for (const std::string& text : params) configs.push_back({text, {}});
  return ShownOf(configs, rank_by, lenient);
}

TEST(Ranking, TakesTheFirstMetricThatAllHave) {
  EXPECT_EQ(ShownRanking({}), "");
  EXPECT_EQ(ShownRanking({Params("mse", "[]")}), "loss/1 0");
  EXPECT_EQ(ShownRanking({Params("mse", "['mae']"), Params("huber", "['mae']")}), "mae/1 1");
  EXPECT_EQ(ShownRanking({Params("mse", "['accuracy', 'auc']"), Params("bce", "['auc']")}),
            "auc/1 2, auc/1 1");
  // Other names, quotes, blanks.
  EXPECT_EQ(ShownRanking({Params("mse", "['acc']"), Params("bce", "['Accuracy()']")}), "acc/1 1");
  EXPECT_EQ(ShownRanking(
                {Params("mse", "[\"AUC(curve='PR')\"]"), Params("bce", "[AUC( curve = 'PR' )]")}),
            "AUC(curve='PR')/1 1");
  // Counts say nothing of better and worse.
  EXPECT_EQ(
      ShownRanking({Params("mse", "['true_positives']"), Params("mse", "['true_positives']")}),
      "loss/1 0");
}

TEST(Ranking, TakesTheLossWhereMetricsDiffer) {
  EXPECT_EQ(ShownRanking({Params("bce", "['mae']"), Params("binary_crossentropy", "['accuracy']")}),
            "loss/1 0");
  const auto ranked =
      RankConfigs({{Params("bce", "['mae']"), {}}, {Params("bce", "['accuracy']"), {}}}, "", false);
  EXPECT_TRUE(ranked[0].instead && ranked[1].instead);
  EXPECT_FALSE(
      RankConfigs({{Params("bce", "[]"), {}}, {Params("bce", "[]"), {}}}, "", false)[0].instead);
  // An equal number by another form of labels, and of outputs.
  EXPECT_EQ(ShownRanking({Params("sparse_categorical_crossentropy", "[]"),
                          Params("CategoricalCrossentropy(from_logits=True)", "[]")}),
            "loss/1 0");
}

TEST(Ranking, TellsErrorsApart) {
  const std::string both = Params("mse", "['mse', 'mae', 'cosine_similarity', 'hinge']");
  const std::string other = both + " ";
  EXPECT_EQ(ShownRanking({both, other}, "mse"), "mse/1 1");
  EXPECT_EQ(ShownRanking({both, other}, "mae"), "mae/1 2");
  EXPECT_EQ(ShownRanking({both, other}, "MeanAbsoluteError"), "mae/1 2");
  EXPECT_EQ(ShownRanking({both, other}, "cosine_similarity"), "cosine_similarity/1 3");
  EXPECT_EQ(ShownRanking({both, other}, "hinge"), "hinge/1 4");
  EXPECT_EQ(ShownRanking({Params("huber", "['mse', 'mae']"), Params("huber", "['mae', 'mse']")}),
            "mse/1 1, mse/1 2");
  EXPECT_EQ(ShownRanking({Params("huber", "['mse']"), Params("huber", "['mae']")}), "loss/1 0");
  EXPECT_EQ(ShownRanking({Params("mse", "['mse']"), Params("mae", "['mae']")}), "mse/1 1, mae/2 1");
  EXPECT_EQ(ShownRanking({Params("mse", "['mae']"), Params("mae", "['cosine_similarity']")}),
            "mae/1 1, cosine_similarity/2 1");
}

TEST(Ranking, TellsTheTopsOfOutputsApart) {
  const std::string text =
      Params("['mse', 'mse']", "[['top_2_accuracy', 'top_3_accuracy'], ['mae']]");
  const std::vector<std::string> shown = {"a_top_2_accuracy", "a_top_3_accuracy", "b_mae", "a_loss",
                                          "b_loss"};
  EXPECT_EQ(ShownOf({{text, shown}, {text + " ", shown}}, "a_top_3_accuracy"),
            "a_top_3_accuracy/1 2");
}

TEST(Ranking, FindsAMetricByItsOtherNames) {
  std::vector<ParamProblem> problems;
  const std::string text =
      Params("bce", "['accuracy', 'mae', 'top_3_accuracy', 'AUC(curve=\"PR\")']");
  const auto metrics = ParseCompileParams(text, &problems).metrics;
  EXPECT_EQ(SameMetric(metrics, "acc"), "accuracy");
  EXPECT_EQ(SameMetric(metrics, "mean_absolute_error"), "mae");
  EXPECT_EQ(SameMetric(metrics, "MeanAbsoluteError"), "mae");
  EXPECT_EQ(SameMetric(metrics, "AUC(curve='PR')"), "AUC(curve=\"PR\")");
  EXPECT_EQ(SameMetric(metrics, "mse"), "");
  EXPECT_EQ(SameMetric(metrics, "auc"), "");
  EXPECT_EQ(SameMetric(metrics, "top_2_accuracy"), "");
  EXPECT_EQ(SameMetric(metrics, "no metric"), "");
  const auto of_outputs =
      ParseCompileParams(
          "loss={'a': 'mse', 'b': 'bce'}, optimizer='sgd', metrics={'a': ['mae'], 'b': ['acc']}",
          &problems)
          .metrics;
  EXPECT_EQ(SameMetric(of_outputs, "mean_absolute_error"), "a_mae");
  EXPECT_EQ(SameMetric(of_outputs, "b_accuracy"), "b_acc");
  EXPECT_EQ(SameMetric(of_outputs, "a_accuracy"), "");
}

TEST(Ranking, NeverComparesDifferentThings) {
  EXPECT_EQ(ShownRanking({Params("mse", "['mae']"), Params("bce", "['accuracy']"),
                          Params("mse", "['mae']"), Params("mse", "[]"),
                          Params("bce", "['true_positives']")}),
            "mae/1 1, accuracy/2 1, mae/1 1, loss (mse)/3 0, loss (bce)/4 0");
  EXPECT_EQ(ShownRanking({Params("Huber(delta=1.0)", "[]"), Params("Huber(delta=2.0)", "[]")}),
            "loss (Huber)/1 0, loss (Huber)/2 0");
  EXPECT_EQ(ShownRanking({Params("mse", "['AUC()']"), Params("mae", "[\"AUC(curve='PR')\"]")}),
            "AUC()/1 1, AUC(curve='PR')/2 1");
  // What does not parse is compared with its like.
  EXPECT_EQ(ShownRanking({"nonsense", "nonsense"}), "loss/1 0");
  EXPECT_EQ(ShownRanking({"nonsense", Params("mse", "[]")}), "loss/1 0, loss (mse)/2 0");
}

TEST(Ranking, ByWhatIsAskedFor) {
  const std::vector<std::string> params = {Params("mse", "['accuracy', \"AUC(curve='PR')\"]"),
                                           Params("bce", "[\"AUC(curve='PR')\", 'acc', 'mae']")};
  EXPECT_EQ(ShownRanking(params, "accuracy"), "accuracy/1 1, accuracy/1 2");
  EXPECT_EQ(ShownRanking(params, "acc"), "accuracy/1 1, accuracy/1 2");
  EXPECT_EQ(ShownRanking(params, "auc"), "AUC(curve='PR')/1 2, AUC(curve='PR')/1 1");
  EXPECT_EQ(ShownRanking(params, "mae"),
            "metric \"mae\" is not computed by all configurations | 1 of 2 lack it: one computes "
            "accuracy, AUC(curve='PR'). | They can be ranked by accuracy, AUC(curve='PR').");
  EXPECT_EQ(ShownRanking(params, "mae", true), "accuracy/1 1, accuracy/1 2");
  EXPECT_EQ(ShownRanking(params, "loss"),
            "configurations with different losses are not ranked by their loss | Some have "
            "\"mse\", some \"bce\". | They can be ranked by accuracy, AUC(curve='PR').");
  EXPECT_EQ(ShownRanking(params, "acuracy"),
            "metric \"acuracy\" is not known |  | Perhaps you meant \"accuracy\".");
  EXPECT_EQ(ShownRanking({Params("mse", "['true_positives']")}, "true_positives"),
            "models cannot be ranked by \"true_positives\" | Nobody can say whether more or less "
            "of it is better. | They can be ranked by loss.");
  EXPECT_EQ(ShownRanking({Params("mse", "[]")}, "mae"),
            "metric \"mae\" is not computed by the configurations | 1 of 1 lack it: one computes "
            "no metrics. | They can be ranked by loss.");
}

// Of a list of metrics the text does not say of which output each is; the order of outputs may
// differ between architectures.
TEST(Ranking, NamesOutputsAsResultsDo) {
  const std::string text = Params("['mse', 'bce']", "[['mae'], [\"AUC(curve='PR')\", 'mae']]");
  const RankedConfig one{
      text, {"a_mae", "mae_AUC(curve='PR')", "mae_mae", "a_loss", "mae_loss"}};  // a, mae
  const RankedConfig other{text, {"mae_mae", "a_AUC(curve='PR')", "a_mae", "mae_loss", "a_loss"}};
  EXPECT_EQ(ShownOf({one, one}), "a_mae/1 1");
  EXPECT_EQ(ShownOf({one, other}), "a_mae/1 1, a_mae/1 3");
  EXPECT_EQ(ShownOf({one, other}, "mae_mae"), "mae_mae/1 3, mae_mae/1 1");
  EXPECT_EQ(ShownOf({one, other}, "mae_loss"),
            "configurations with different losses are not ranked by \"mae_loss\" | Some have "
            "\"bce\", some \"mse\". | They can be ranked by a_mae, mae_mae.");
  EXPECT_EQ(ShownOf({one}, "mae_auc"), "mae_AUC(curve='PR')/1 2");
  EXPECT_EQ(ShownOf({one}, "mae"),
            "metric \"mae\" is not computed by the configurations | 1 of 1 lack it: one computes "
            "a_mae, mae_AUC(curve='PR'), mae_mae, a_loss, mae_loss. | They can be ranked by a_mae, "
            "mae_AUC(curve='PR'), mae_mae, a_loss, mae_loss, loss.");
  // A single output's name is left out, where the text has it.
  EXPECT_EQ(ShownOf({{Params("mse", "{'price': ['mae']}"), {"mae"}}}), "mae/1 1");
  // Arguments may have been cut; names that do not belong together change nothing.
  EXPECT_EQ(ShownOf({{Params("mse", "[\"AUC(curve='PR')\"]"), {"a_AUC(cur"}}}),
            "a_AUC(curve='PR')/1 1");
  EXPECT_EQ(ShownOf({{Params("mse", "['mae']"), {"accuracy"}}}), "mae/1 1");
}

std::string OfTwo(const std::string& loss, const std::string& more) {
  return "loss=" + loss + ", optimizer='sgd'" + more;
}

// Nobody has named the losses of outputs: what is trained is their sum.
TEST(Ranking, TakesTheTotalOfOutputsWithoutNamedMetrics) {
  const std::string both = "{'a': 'mse', 'b': 'bce'}";
  EXPECT_EQ(ShownRanking({OfTwo(both, ""), OfTwo(both, ", loss_weights=None")}), "loss/1 0");
  EXPECT_FALSE(RankConfigs({{OfTwo(both, ""), {}}, {OfTwo(both, " "), {}}}, "", false)[0].instead);
  EXPECT_EQ(ShownOf({{OfTwo("'mse'", ""), {"a_loss", "b_loss"}}}), "loss/1 0");
  // Metrics that are named go before it.
  EXPECT_EQ(ShownRanking({OfTwo(both, ", metrics={'b': 'mae'}")}), "b_mae/1 1");
  // An output's own where it is asked for.
  EXPECT_EQ(ShownRanking({OfTwo(both, "")}, "b_loss"), "b_loss/1 2");
}

TEST(Ranking, TotalsUnderOtherWeightsAreOtherLosses) {
  const std::string both = "{'a': 'mse', 'b': 'bce'}";
  const std::string tenth = ", loss_weights={'a': 0.1, 'b': 1}";
  EXPECT_EQ(ShownRanking({OfTwo(both, ""), OfTwo(both, tenth)}),
            "loss ({'a':'mse','b':'bce'})/1 0, "
            "loss ({'a':'mse','b':'bce'}, weights a 0.1, b 1.0)/2 0");
  EXPECT_EQ(ShownRanking({OfTwo(both, tenth), OfTwo(both, "")}, "loss"),
            "configurations with different loss_weights are not ranked by their loss | Some have "
            "a 0.1, b 1.0, some none. | They can be ranked by a_loss, b_loss.");
  // Equal numbers, however they are written; what has no weight is no part of the sum.
  EXPECT_EQ(
      ShownRanking({OfTwo(both, ", loss_weights={'b': 1.0, 'a': 0.1}"), OfTwo(both, tenth),
                    OfTwo("{'b': 'bce', 'a': 'mean_squared_error'}", ", loss_weights={'a': 0.1}")}),
      "loss/1 0");
  EXPECT_EQ(ShownRanking({OfTwo("{'a': 'mae', 'b': 'bce'}", ", loss_weights={'a': 0}"),
                          OfTwo(both, ", loss_weights={'a': 0.0, 'b': 1}")}),
            "loss/1 0");
  // By place, with the names that results have; one loss for all.
  const std::vector<std::string> shown = {"a_loss", "b_loss"};
  EXPECT_EQ(ShownOf({{OfTwo("['mse', 'mse']", ", loss_weights=[0.1, 1]"), shown},
                     {OfTwo("'mse'", ", loss_weights={'a': 0.1}"), shown},
                     {OfTwo("{'a': 'mse', 'b': 'mse'}", ", loss_weights={'a': 0.1}"), shown}}),
            "loss/1 0");
  EXPECT_EQ(ShownOf({{OfTwo("'mse'", ", loss_weights=[0.1, 1]"), shown},
                     {OfTwo("'mse'", ", loss_weights=[0.1, 1]"), {"b_loss", "a_loss"}}},
                    "a_loss"),
            "a_loss/1 1, a_loss/1 2");
  EXPECT_EQ(ShownOf({{OfTwo("'mse'", ", loss_weights=[0.1, 1]"), shown},
                     {OfTwo("'mse'", ", loss_weights=[0.1, 1]"), {"b_loss", "a_loss"}}}),
            "loss (mse, weights a 0.1, b 1.0)/1 0, loss (mse, weights b 0.1, a 1.0)/2 0");
  // A single output's weight is a factor, too.
  EXPECT_EQ(
      ShownRanking({OfTwo("'mse'", ", loss_weights=[2]"), OfTwo("'mse'", ", loss_weights=2")}),
      "loss/1 0");
  EXPECT_EQ(ShownRanking({OfTwo("'mse'", ""), OfTwo("'mse'", ", loss_weights=[2]")}),
            "loss (mse)/1 0, loss (mse, weights 2.0)/2 0");
}

TEST(Ranking, ComparesTheLossOfAnOutputOnlyWithTheSame) {
  const std::string metrics = ", metrics={'b': 'accuracy'}";
  const std::string bce = OfTwo("{'a': 'mse', 'b': 'bce'}", metrics);
  const std::string focal = OfTwo("{'a': 'mse', 'b': 'binary_focal_crossentropy'}", metrics);
  EXPECT_EQ(ShownRanking({bce, focal}, "a_loss"), "a_loss/1 2");
  EXPECT_EQ(ShownRanking({bce, focal}, "b_loss"),
            "configurations with different losses are not ranked by \"b_loss\" | Some have "
            "\"bce\", some \"binary_focal_crossentropy\". | They can be ranked by b_accuracy, "
            "a_loss.");
  EXPECT_EQ(ShownRanking({bce, focal}, "loss"),
            "configurations with different losses are not ranked by their loss | Some have "
            "\"{'a':'mse','b':'bce'}\", some \"{'a':'mse','b':"
            "'binary_focal_crossentropy'}\". | They can be ranked by b_accuracy, a_loss.");
  EXPECT_EQ(ShownRanking({bce, focal}, "b_loss", true), "b_accuracy/1 1");
  const std::string smooth =
      OfTwo("{'a': 'mse', 'b': 'BinaryCrossentropy(label_smoothing=0.1)'}", metrics);
  EXPECT_EQ(ShownRanking({bce, smooth}, "b_loss", true), "b_accuracy/1 1");
  EXPECT_EQ(
      ShownRanking({bce, OfTwo("{'b': 'binary_crossentropy', 'a': 'mae'}", metrics)}, "b_loss"),
      "b_loss/1 3, b_loss/1 2");
}

Measured Validated(std::optional<double> metric, double loss) {
  Measured model;
  model.metric[1] = metric;
  model.loss[1] = loss;
  return model;
}

Measured Trained(double metric) {
  Measured model;
  model.metric[0] = metric;
  model.loss[0] = 1.0;
  return model;
}

TEST(Ranking, OfModelsThatAreEquallyGoodTheLossDecidesAndThenThePlace) {
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    EXPECT_EQ(BestOf({Validated(0.5, 0.4), Validated(0.5, 0.3), Validated(0.5, 0.3)}, direction),
              1U);
    EXPECT_EQ(BestOf({Trained(0.5), Trained(0.5)}, direction), 0U);
  }
  EXPECT_EQ(BestOf({Validated(0.5, 0.1), Validated(0.6, 0.4)}, Direction::kUp), 1U);
  EXPECT_EQ(BestOf({Validated(0.6, 0.1), Validated(0.5, 0.4)}, Direction::kDown), 1U);
}

TEST(Ranking, NanComesAfterNumbersAndWhatIsNotKnownAfterNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    for (const double number : {-infinite, 0.0, infinite}) {
      EXPECT_EQ(BestOf({Validated(nan, 0.1), Validated(number, 0.2)}, direction), 1U);
    }
    EXPECT_EQ(BestOf({Validated(std::nullopt, 0.1), Validated(nan, 0.2)}, direction), 1U);
    EXPECT_EQ(BestOf({Validated(0.5, nan), Validated(0.5, 0.2)}, direction), 1U);
    // A training value is never compared with a validation value.
    EXPECT_EQ(BestOf({Trained(0.9), Validated(0.5, 0.2), Trained(0.1)}, direction), 1U);
  }
  EXPECT_EQ(BestOf({Validated(std::nullopt, 1.0), Trained(0.1), Trained(0.9)}, Direction::kUp), 2U);
}

}  // namespace
}  // namespace hopper
