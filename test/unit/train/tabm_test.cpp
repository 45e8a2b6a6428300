// TabM and TabM-mini against their authors' code: predictions, gradients, and steps from the same
// weights, through planned steps, through autograd and in lanes; what its members are to losses,
// metrics and predictions; and what tabular() writes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "model/recipes/tabular.h"
#include "predict/forward_pass.h"
#include "support/autograd.h"
#include "support/package_steps.h"

namespace hopper {
namespace {

const BaselineTable& TabMTable() {
  static const BaselineTable table("tabm.safetensors");
  return table;
}

class TabM : public PackageSteps {
 protected:
  TabM() : PackageSteps(TabMTable()) {
    Begin(Loss() + ", metrics=['" + GetParam()["loss"].get<std::string>() +
          "'], optimizer='AdamW(lr=" + GetParam()["learning_rate"].dump() +
          ", epsilon=1e-20, weight_decay=" + GetParam()["weight_decay"].dump() + ")'");
  }
  static std::string Loss() { return "loss='" + GetParam()["loss"].get<std::string>() + "'"; }

  void ExpectPredictions(const char* what) {
    const std::vector<float>& expected = TabMTable().Get(GetParam(), what).values;
    ForwardPass pass(std::make_shared<const Network>(spec_), data_->desc(), state_.params.data(),
                     x_.shape[0]);
    std::vector<float> predictions(expected.size());
    pass.Run(x_.values.data(), x_.shape[0], predictions.data());
    EXPECT_LE(RelativeDifference(predictions.data(), expected), 1e-4) << what;
  }

  // The loss of a mean of members, by its formula.
  double LossOfMean(const char* what) const {
    const std::vector<float>& p = TabMTable().Get(GetParam(), what).values;
    double sum = 0.0;
    for (size_t i = 0; i < p.size(); ++i) {
      const double value = p[i], label = y_[i];
      if (classes_ > 0) {
        sum -= label * std::log(value);
      } else if (GetParam()["loss"] == "mse") {
        sum += (value - label) * (value - label);
      } else {
        sum -= label * std::log(value) + (1.0 - label) * std::log(1.0 - value);
      }
    }
    return sum / static_cast<double>(x_.shape[0]);
  }

  // Loss and metric in evaluation are the mean's, though training has the members'.
  void ExpectEvaluation() {
    MetricSums sums;
    ASSERT_EQ(trainer_->Evaluate(state_.params.data(), data_->partition(0), cancel_, &sums),
              VisitEnd::kDone);
    double loss = 0.0;
    std::vector<double> metrics;
    trainer_->Finish(sums, &loss, &metrics);
    EXPECT_NEAR(loss, LossOfMean("predictions"), 1e-5);
    EXPECT_NEAR(metrics[0], loss, 1e-6);
    EXPECT_GT(std::fabs(loss - Expected(0)), 1e-3) << "would not show the members' loss";
  }

  // One step of a rate of 1 by plain descent is the gradient.
  void ExpectGradients() {
    Begin(Loss() + ", optimizer='SGD(lr=1.0)'");
    const std::vector<float> before = Weights();
    Partition batch;
    batch.n = GetParam()["batch"];
    batch.buffer_starts = {0};
    batch.x = AlignedArray<uint8_t>(static_cast<size_t>(batch.n) * data_->desc().x_bytes());
    batch.y = AlignedArray<uint8_t>(static_cast<size_t>(batch.n) * data_->desc().y_bytes());
    std::memcpy(batch.x.data(), data_->partition(0).x.data(), batch.x.size());
    std::memcpy(batch.y.data(), data_->partition(0).y.data(), batch.y.size());
    MetricSums sums;
    ASSERT_EQ(trainer_->Visit(&state_, batch, 0, cancel_, &sums), VisitEnd::kDone);
    const std::vector<float> after = Weights();
    size_t at = 0;
    for (int i = 0; i < BaselineTable::Count(GetParam(), "gradients"); ++i) {
      const std::vector<float>& expected = TabMTable().Get(GetParam(), "gradients", i).values;
      std::vector<float> gradient;
      for (size_t j = 0; j < expected.size(); ++j, ++at) gradient.push_back(before[at] - after[at]);
      EXPECT_LE(RelativeDifference(gradient.data(), expected), 1e-4) << spec_->weights[i].name;
    }
  }
};

TEST_P(TabM, Planned) {
  ExpectPredictions("predictions");
  ExpectRun();
  ExpectPredictions("predictions_after");
}

TEST_P(TabM, Autograd) {
  UsePlannedSteps(false);
  ExpectPredictions("predictions");
  ExpectEvaluation();
  UsePlannedSteps(true);
  ExpectRunByAutograd();
}

TEST_P(TabM, Lanes) { ExpectRunInLanes(); }

TEST_P(TabM, EvaluatesTheMean) { ExpectEvaluation(); }

TEST_P(TabM, Gradients) { ExpectGradients(); }

// A class's weight is that of the losses of all members.
TEST_P(TabM, ClassWeightsMultiplyTheMembersLosses) {
  if (GetParam()["loss"] == "mse") return;  // labels are no classes
  double losses[2];
  for (const bool weighed : {false, true}) {
    std::vector<ParamProblem> problems;
    const Trainer trainer(std::make_shared<const Network>(spec_),
                          ParseCompileParams(Loss() + ", optimizer='SGD(lr=1e-9)'", &problems),
                          ParseFitParams(std::string("batch_size=200, shuffle=False") +
                                             (weighed ? ", class_weight={0: 3, 1: 3, 2: 3}" : ""),
                                         &problems),
                          data_->desc(), Autograd(), 1);
    for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    MetricSums sums;
    ModelState state = trainer.InitialState(All("weights").data(), "class");
    ASSERT_EQ(trainer.Visit(&state, data_->partition(0), 0, cancel_, &sums), VisitEnd::kDone);
    losses[weighed ? 1 : 0] = sums.loss / static_cast<double>(sums.examples);
  }
  EXPECT_NEAR(losses[1], 3.0 * losses[0], 1e-5 * losses[1]);
}

// What tabular() writes has the weights of the table's architecture.
TEST_P(TabM, IsWhatTheRecipeWrites) {
  const bool mini = GetParam()["mini"];
  LabelsDesc labels;
  labels.kind = GetParam()["loss"] == "mse" ? LabelKind::kValue : LabelKind::kClass;
  labels.num_classes = labels.kind == LabelKind::kValue ? 0 : classes_ > 0 ? classes_ : 2;
  const DataDesc data = MakeDesc(ValueType::kFloat32, {5}, labels, 3000);
  const TabularRecipe recipe = MakeTabularRecipe(
      mini ? "tabm_mini" : "tabm",
      R"({"hidden": [12, 9], "members": 4, "dropout": 0, "iterations": 7})", data);
  const auto made = ParseModel(recipe.architecture, nullptr);
  ASSERT_EQ(made->weights.size(), spec_->weights.size());
  for (size_t i = 0; i < made->weights.size(); ++i) {
    EXPECT_EQ(made->weights[i].shape, spec_->weights[i].shape) << made->weights[i].name;
    EXPECT_EQ(made->weights[i].decay_factor, spec_->weights[i].decay_factor)
        << made->weights[i].name;
  }
  EXPECT_EQ(made->outputs[0].members, 4);
  EXPECT_EQ(made->outputs[0].member_activation, spec_->outputs[0].member_activation);
  std::vector<ParamProblem> problems;
  const CompileParams compile = ParseCompileParams(recipe.compile_params, &problems);
  const FitParams fit = ParseFitParams(recipe.fit_params, &problems);
  for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
  EXPECT_EQ(compile.optimizer.learning_rate, 0.002);
  EXPECT_EQ(fit.early_stopping.patience, 16);
  // The first scales are signs, kernels even numbers within the root of their inputs.
  std::vector<float> flat(static_cast<size_t>(made->flat_size));
  InitializeWeights(*made, 1, flat.data());
  for (const WeightSpec& weight : made->weights) {
    const float* values = flat.data() + weight.offset;
    const bool first = weight.name == "dense_1/alpha";
    const bool kernel = weight.name.find("/kernel") != std::string::npos;
    const double limit =
        kernel ? 1.0 / std::sqrt(static_cast<double>(weight.shape[weight.shape.size() - 2])) : 0.0;
    double least = 0.0, most = 0.0;
    for (int64_t i = 0; i < weight.size(); ++i) {
      if (first && std::fabs(values[i]) != 1.0F) ADD_FAILURE() << values[i];
      least = std::min(least, static_cast<double>(values[i]));
      most = std::max(most, static_cast<double>(values[i]));
    }
    if (first) {
      EXPECT_EQ(least, -1.0);
      EXPECT_EQ(most, 1.0);
    }
    if (!kernel) continue;
    EXPECT_LE(std::max(-least, most), limit) << weight.name;
    EXPECT_GE(std::min(-least, most), 0.8 * limit) << weight.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TabM, testing::ValuesIn(RunsOf(TabMTable())),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace hopper
