// RealMLP against its authors' own package: 20 steps from the same weights, and runs of 80, through
// planned steps, through autograd, and in lanes; the schedules as numbers; and the recipe that is
// written for a table is that architecture.
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "model/recipes/tabular.h"
#include "model/work.h"
#include "optim/learning_rate.h"
#include "support/package_steps.h"

namespace hopper {
namespace {

const BaselineTable& RealMlpTable() {
  static const BaselineTable table("realmlp.safetensors");
  return table;
}

class RealMLP : public PackageSteps {
 protected:
  RealMLP() : PackageSteps(RealMlpTable()) {
    const std::string iterations = "decay_iterations=" + GetParam()["epochs"].dump();
    const std::string loss = classes_ > 0 ? "CategoricalCrossentropy(label_smoothing=" +
                                                GetParam()["label_smoothing"].dump() + ")"
                                          : "mse";
    Begin("loss='" + loss + "', optimizer='Adam(lr=" + GetParam()["learning_rate"].dump() +
          ", learning_rate_schedule=CosineLogDecay(" + iterations +
          "), beta_2=" + GetParam()["beta_2"].dump() + ", epsilon=" + GetParam()["epsilon"].dump() +
          ", weight_decay=" + GetParam()["weight_decay"].dump() +
          ", weight_decay_schedule=FlatCosineDecay(" + iterations + "))'");
  }
};

TEST_P(RealMLP, Planned) { ExpectRun(); }

TEST_P(RealMLP, Autograd) { ExpectRunByAutograd(); }

TEST_P(RealMLP, Lanes) { ExpectRunInLanes(); }

INSTANTIATE_TEST_SUITE_P(All, RealMLP, testing::ValuesIn(RunsOf(RealMlpTable())),
                         [](const auto& info) { return CaseName(info.param); });

TEST(RealMLPSchedules, AreThoseOfThePackage) {
  const nlohmann::json the_case = {{"name", "schedules"}};
  const auto expect = [&](const char* name, ScheduleParams schedule) {
    schedule.decay_steps = 100.0;
    const std::vector<float>& expected = RealMlpTable().Get(the_case, name).values;
    ASSERT_EQ(expected.size(), 100U);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(ScheduledValue(schedule, 1.0, static_cast<int64_t>(i)), expected[i], 2e-7)
          << name << " at " << i;
    }
  };
  ScheduleParams schedule;
  schedule.kind = ScheduleKind::kCosineLog;
  expect("coslog4", schedule);
  schedule.cycles = 2.0;
  expect("coslog2", schedule);
  schedule.kind = ScheduleKind::kFlatCosine;
  expect("flat_cos", schedule);
  EXPECT_EQ(ScheduledValue(schedule, 1.0, 1000), ScheduledValue(schedule, 1.0, 100));
}

// Without the layers of dropout and with the package's sizes, what is written for a table has the
// weights of the table's architecture, factors included.
TEST(TabularRecipe, IsTheArchitectureOfThePackage) {
  for (const nlohmann::json& the_case : RunsOf(RealMlpTable())) {
    const std::string name = the_case["name"];
    const auto wanted = ParseModel(the_case["architecture"].get<std::string>(), nullptr);
    const int classes = the_case["classes"];
    LabelsDesc labels;
    labels.kind = classes > 0 ? LabelKind::kClass : LabelKind::kValue;
    labels.num_classes = classes;
    const DataDesc data = MakeDesc(ValueType::kFloat32, {wanted->input_shape()[0]}, labels, 300);
    const bool small = name.find("small") != std::string::npos;
    const TabularRecipe recipe = MakeTabularRecipe(
        small ? "realmlp_small" : "realmlp",
        R"({"hidden": [24, 24, 24], "one_hot": [7, 8, 9, 10], "categories": {"11": 21}})", data);
    const auto made = ParseModel(recipe.architecture, nullptr);
    std::vector<WeightSpec> own;
    for (const WeightSpec& weight : made->weights) {
      if (weight.name.find("initialized") == std::string::npos) own.push_back(weight);
    }
    ASSERT_EQ(own.size(), wanted->weights.size()) << name;
    for (size_t i = 0; i < own.size(); ++i) {
      const WeightSpec& weight = wanted->weights[i];
      EXPECT_EQ(own[i].shape, weight.shape) << name << " " << weight.name;
      EXPECT_EQ(own[i].lr_factor, weight.lr_factor) << name << " " << weight.name;
      EXPECT_EQ(own[i].decay_factor, weight.decay_factor) << name << " " << weight.name;
    }
    std::vector<ParamProblem> problems;
    const CompileParams compile = ParseCompileParams(recipe.compile_params, &problems);
    const FitParams fit = ParseFitParams(recipe.fit_params, &problems);
    for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    EXPECT_EQ(compile.optimizer.learning_rate, the_case["learning_rate"]);
    EXPECT_EQ(compile.optimizer.weight_decay, the_case["weight_decay"]);
    EXPECT_EQ(compile.optimizer.Own("beta_2"), the_case["beta_2"]);
    EXPECT_EQ(compile.loss_options.label_smoothing, the_case["label_smoothing"]);
    EXPECT_EQ(compile.optimizer.schedule.kind, ScheduleKind::kCosineLog);
    EXPECT_EQ(compile.optimizer.schedule.decay_iterations, 256.0);
    EXPECT_EQ(fit.dropout_schedule.kind,
              small ? ScheduleKind::kConstant : ScheduleKind::kFlatCosine);
    EXPECT_EQ(fit.batch_size, 256);
    EXPECT_TRUE(fit.early_stopping.restore_best);
  }
}

std::string Refusal(const std::string& recipe, const std::string& options, const DataDesc& data) {
  try {
    MakeTabularRecipe(recipe, options, data);
  } catch (const Error& error) {
    return std::string(error.problem().message) + " | " + error.problem().hint;
  }
  return "";
}

TEST(TabularRecipe, RefusesWhatDoesNotFit) {
  const DataDesc data = MakeDesc(ValueType::kFloat32, {3}, {}, 10);
  EXPECT_EQ(Refusal("realmpl", "{}", data),
            "recipe \"realmpl\" is not known | Perhaps you meant \"realmlp\".");
  EXPECT_EQ(Refusal("realmlp", R"({"hiden": [1]})", data),
            "recipe \"realmlp\" has no option \"hiden\" | Perhaps you meant \"hidden\".");
  EXPECT_EQ(Refusal("realmlp", R"({"one_hot": [4]})", data),
            "option \"one_hot\" names the place 4 of rows that have 3 | ");
  EXPECT_EQ(Refusal("realmlp", R"({"one_hot": [2], "categories": {"2": 5}})", data),
            "place 2 is named twice among categories, texts and one_hot | ");
  EXPECT_EQ(Refusal("realmlp", R"({"iterations": 0})", data),
            "option \"iterations\" must be a whole number of 1 or more, not 0 | ");
  const DataDesc image = MakeDesc(ValueType::kFloat32, {2, 2}, {}, 10);
  EXPECT_EQ(
      Refusal("resnet", "{}", image),
      "\"made_up\" does not hold rows of numbers | Pack a list of columns, or one array of one "
      "dimension.");
}

// A range becomes a parameter of a search, and configurations are left to it.
TEST(TabularRecipe, TakesRanges) {
  const DataDesc data = MakeDesc(ValueType::kFloat32, {3}, {}, 10);
  const TabularRecipe recipe = MakeTabularRecipe(
      "realmlp",
      R"({"learning_rate": {"type": "float", "low": 0.02, "high": 0.3, "scale": "log"},
          "dropout": [0.1, 0.2], "hidden": [64, [32, 64]]})",
      data);
  EXPECT_EQ(recipe.compile_params, "");
  const auto space = nlohmann::json::parse(recipe.space);
  EXPECT_EQ(space["parameters"].size(), 3U);
  EXPECT_EQ(space["parameters"]["hidden2"], nlohmann::json({32, 64}));
  EXPECT_EQ(space["compile_params"]["optimizer"]["config"]["learning_rate"]["hopper"],
            "learning_rate");
  EXPECT_NE(recipe.architecture.find(R"("rate":{"hopper":"dropout"})"), std::string::npos);
}

// Every recipe is a model that can be trained.
TEST(TabularRecipe, AreModels) {
  for (const char* recipe : {"realmlp", "realmlp_small", "resnet", "tabm", "tabm_mini"}) {
    for (const int classes : {0, 2, 5}) {
      LabelsDesc labels;
      labels.kind = classes > 0 ? LabelKind::kClass : LabelKind::kValue;
      labels.num_classes = classes;
      const DataDesc data = MakeDesc(ValueType::kFloat32, {4}, labels, 100);
      const TabularRecipe made = MakeTabularRecipe(recipe, R"({"categories": {"3": 11}})", data);
      const auto spec = ParseModel(made.architecture, nullptr);
      EXPECT_EQ(spec->OutputValues(), classes > 2 ? classes : 1) << recipe;
      std::vector<ParamProblem> problems;
      ParseCompileParams(made.compile_params, &problems);
      // No larger than a partition.
      EXPECT_EQ(ParseFitParams(made.fit_params, &problems).batch_size, 100) << recipe;
      for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    }
  }
}

// So that a step costs little more than a plain network's: counted, as other work on the machine
// adds to its seconds.
TEST(RealMLPSteps, RunNoLayerThroughAutogradAndMultiplyLittleMore) {
  LabelsDesc labels;
  labels.kind = LabelKind::kClass;
  labels.type = ValueType::kInt32;
  labels.num_classes = 3;
  const DataDesc desc = MakeDesc(ValueType::kFloat32, {20}, labels, 2048);
  const TabularRecipe recipe = MakeTabularRecipe("realmlp", R"({"restore_best": false})", desc);
  std::string plain = R"({"class_name": "Sequential", "config": {"layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 20]}})";
  for (int i = 0; i < 3; ++i) {
    plain += R"(, {"class_name": "Dense", "config": {"units": 256, "activation": "selu"}},
                {"class_name": "Dropout", "config": {"rate": 0.15}})";
  }
  plain += R"(, {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}]}})";
  const Network network(ParseModel(recipe.architecture, nullptr));
  PlanOptions options;
  options.batch = 256;
  options.training = true;
  EXPECT_EQ(StepPlan(network, options).autograd_nodes(), 0);
  EXPECT_LT(PassFlops(network.spec()), 1.5 * PassFlops(*ParseModel(plain, nullptr)));
}

}  // namespace
}  // namespace hopper
