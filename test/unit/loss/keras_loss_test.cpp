// Losses with their gradients, and metrics, against real Keras.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <numeric>

#include "autograd/tensor_loss.h"
#include "autograd/tensor_metrics.h"
#include "baseline_table.h"
#include "loss/planned_loss.h"
#include "model/network/activate.h"
#include "support/losses.h"
#include "support/tensor_batches.h"

namespace hopper {
namespace {

const BaselineTable& Losses() {
  static const BaselineTable table("keras_losses.safetensors");
  return table;
}

const BaselineTable& Metrics() {
  static const BaselineTable table("keras_metrics.safetensors");
  return table;
}

at::Tensor ToTensor(const BaselineTensor& tensor) {
  return at::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape,
                       at::TensorOptions().dtype(at::kFloat))
      .clone();
}

Activation LastActivation(const nlohmann::json& the_case) {
  const std::string last = the_case["last"];
  if (last == "softmax") return Activation::kSoftmax;
  return last == "sigmoid" ? Activation::kSigmoid : Activation::kLinear;
}

// What the model puts out for what its last layer gets.
at::Tensor Output(const nlohmann::json& the_case, const at::Tensor& logits) {
  ActivationSpec activation;
  activation.kind = LastActivation(the_case);
  if (the_case["last"] == "linear_probabilities") activation.kind = Activation::kSigmoid;
  return Activate(logits, activation);
}

TensorTargets CaseTargets(const nlohmann::json& the_case, const BaselineTensor& values,
                          int64_t num_classes) {
  TensorTargets targets;
  if (the_case["targets"] == "classes") {
    targets.classes = ToTensor(values).to(at::kLong);
    targets.num_classes = num_classes;
  } else {
    targets.values = ToTensor(values);
  }
  return targets;
}

// Losses and metrics as users write them.
CompileParams Parse(const std::string& loss, const std::string& metrics) {
  std::vector<ParamProblem> problems;
  CompileParams params =
      ParseCompileParams("optimizer=SGD, loss=" + loss + ", metrics=" + metrics, &problems);
  for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
  return params;
}

// Of losses that have loops.
const LossBackend kNoLosses;

class KerasLoss : public testing::TestWithParam<nlohmann::json> {};

TEST_P(KerasLoss, ValuesAndGradient) {
  const nlohmann::json& the_case = GetParam();
  const std::string name = the_case["loss"];
  const CompileParams compile = Parse(name, "None");
  const LossKind loss = compile.loss;
  const Activation last = LastActivation(the_case);
  const bool logits = UsesLogits(loss, last);
  const bool focal = name.find("ocal") != name.npos;
  const bool binary = name.find("inary") != name.npos;
  EXPECT_EQ(logits, last != Activation::kLinear && name.find("rossentropy") != name.npos &&
                        (!focal || (binary && last == Activation::kSigmoid)));
  at::Tensor z = ToTensor(Losses().Get(the_case, "logits"));
  z.requires_grad_(true);
  const TensorTargets targets = CaseTargets(the_case, Losses().Get(the_case, "values"), z.size(-1));
  const at::Tensor values =
      LossPerExample(loss, logits ? z : Output(the_case, z), logits, targets, compile.loss_options);
  ASSERT_EQ(values.dim(), 1);
  ASSERT_EQ(values.scalar_type(), at::kFloat);
  EXPECT_LE(RelativeDifference(values.contiguous().const_data_ptr<float>(),
                               Losses().Get(the_case, "loss").values),
            1e-5);
  values.mean().backward();
  EXPECT_LE(RelativeDifference(z.grad().contiguous().const_data_ptr<float>(),
                               Losses().Get(the_case, "gradient").values),
            1e-5);
}

// Losses through the loops of planned steps, on every instruction set.
TEST_P(KerasLoss, Planned) {
  const nlohmann::json& the_case = GetParam();
  const CompileParams compile = Parse(the_case["loss"], "None");
  const LossKind loss = compile.loss;
  const Activation last = LastActivation(the_case);
  const bool logits = UsesLogits(loss, last);
  for (const Kernels* kernels : {BaselineKernels(), Avx2Kernels(), Avx512Kernels()}) {
    if (kernels == nullptr) continue;
    at::Tensor z = ToTensor(Losses().Get(the_case, "logits"));
    z.requires_grad_(true);
    const at::Tensor output = (logits ? z : Output(the_case, z)).contiguous();
    const TensorTargets targets =
        CaseTargets(the_case, Losses().Get(the_case, "values"), z.size(-1));
    const int64_t batch = z.size(0);
    const CountedLosses backend;
    PlannedLoss planned(loss, compile.loss_options, logits, batch, output.sizes().slice(1).vec(),
                        *kernels, backend);
    const std::vector<float> factors(static_cast<size_t>(batch), 1.0F / static_cast<float>(batch));
    at::Tensor gradient = at::empty(output.sizes(), at::kFloat);
    planned.Run(output.const_data_ptr<float>(), RawTargets(targets), factors.data(),
                gradient.data_ptr<float>());
    EXPECT_LE(RelativeDifference(planned.losses(), Losses().Get(the_case, "loss").values), 1e-5)
        << kernels->name;
    // Over the batch alone, or over one axis of several.
    const bool partial =
        the_case["loss"] == "Dice(axis=[0])" || the_case["loss"] == "Dice(axis=-2)";
    EXPECT_EQ(backend.count, partial ? 1 : 0);
    EXPECT_EQ(
        PlannedLoss::HasLoop(loss, compile.loss_options, logits, output.sizes().slice(1).vec(),
                             targets.classes.defined(), RawTargets(targets).size),
        !partial);
    output.backward(gradient);
    EXPECT_LE(RelativeDifference(z.grad().contiguous().const_data_ptr<float>(),
                                 Losses().Get(the_case, "gradient").values),
              1e-5)
        << kernels->name;
    // Without a gradient, as evaluation asks.
    PlannedLoss evaluated(loss, compile.loss_options, logits, batch, output.sizes().slice(1).vec(),
                          *kernels, backend);
    evaluated.Run(output.const_data_ptr<float>(), RawTargets(targets), nullptr, nullptr);
    for (int64_t i = 0; i < batch; ++i) EXPECT_EQ(evaluated.losses()[i], planned.losses()[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasLoss,
                         testing::ValuesIn(Losses().cases().begin(), Losses().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

// What ends a configuration is a loss that is not finite.
TEST(PlannedLoss, PassesNanOn) {
  for (const std::string& loss :
       LossesAnd({"categorical_generalized_cross_entropy", "Dice(axis=1)"})) {
    const CompileParams compile = Parse(loss, "None");
    TensorTargets targets;
    targets.classes = at::tensor({1, 1}, at::kLong);
    const std::vector<float> output = {0.2F, 0.5F, 0.3F, NAN, NAN, NAN};
    const std::vector<float> factors = {0.5F, 0.5F};
    std::vector<float> gradient(6);
    for (const bool logits : {false, true}) {
      if (logits && loss.find("l_crossentropy") == std::string::npos) continue;
      PlannedLoss planned(compile.loss, compile.loss_options, logits, 2, {3}, *BaselineKernels(),
                          kNoLosses);
      planned.Run(output.data(), RawTargets(targets), factors.data(), gradient.data());
      EXPECT_TRUE(std::isfinite(planned.losses()[0])) << loss;
      EXPECT_TRUE(std::isnan(planned.losses()[1])) << loss;
    }
  }
}

// Keras' gradient is NaN there: a slope of the weight that is infinite, times 0.
TEST(BinaryFocalCrossentropy, HasAGradientWhereNothingIsWrongWhateverGammaIs) {
  for (const char* loss :
       {"BinaryFocalCrossentropy(gamma=0.0)", "BinaryFocalCrossentropy(gamma=0.5)",
        "BinaryFocalCrossentropy(gamma=0.01, apply_class_balancing=True)",
        "BinaryFocalCrossentropy(gamma=1.0)", "binary_focal_crossentropy"}) {
    const CompileParams compile = Parse(loss, "None");
    TensorTargets targets;
    targets.values = at::tensor({1.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F}, at::kFloat).reshape({3, 2});
    at::Tensor z = at::tensor({1e4F, -1e4F, 3.0F, -2.0F, 17.0F, 1e4F}, at::kFloat).reshape({3, 2});
    z.requires_grad_(true);
    LossPerExample(compile.loss, z, true, targets, compile.loss_options).mean().backward();
    PlannedLoss planned(compile.loss, compile.loss_options, true, 3, {2}, *BaselineKernels(),
                        kNoLosses);
    const std::vector<float> factors(3, 1.0F / 3.0F);
    std::vector<float> gradient(6);
    planned.Run(z.const_data_ptr<float>(), RawTargets(targets), factors.data(), gradient.data());
    EXPECT_LE(RelativeDifference(z.grad().contiguous().const_data_ptr<float>(), gradient), 1e-5)
        << loss;
    EXPECT_EQ(gradient[0], 0.0F);
    EXPECT_GT(gradient[5], 0.0F);
  }
}

// softmax - labels, as TensorFlow, also where logits are so large that their sum of exponentials
// has a rounded logarithm.
TEST(CategoricalCrossentropy, SlopesOfLargeLogitsAreExact) {
  const CompileParams compile = Parse("categorical_crossentropy", "None");
  TensorTargets targets;
  targets.values = at::tensor({1.0F, 1.0F, 0.0F}, at::kFloat).reshape({1, 3});
  at::Tensor z = at::tensor({1e4F, 1e4F, 1e4F}, at::kFloat).reshape({1, 3});
  z.requires_grad_(true);
  LossPerExample(compile.loss, z, true, targets, compile.loss_options).sum().backward();
  const std::vector<float> expected = {1.0F / 3.0F - 1.0F, 1.0F / 3.0F - 1.0F, 1.0F / 3.0F};
  EXPECT_LE(RelativeDifference(z.grad().const_data_ptr<float>(), expected), 1e-6);
  PlannedLoss planned(compile.loss, compile.loss_options, true, 1, {3}, *BaselineKernels(),
                      kNoLosses);
  const float factor = 1.0F;
  std::vector<float> gradient(3);
  planned.Run(z.const_data_ptr<float>(), RawTargets(targets), &factor, gradient.data());
  EXPECT_LE(RelativeDifference(gradient.data(), expected), 1e-6);
}

TEST(PlannedLoss, RefusesClassesThatTheOutputLacks) {
  for (const char* loss : {"categorical_focal_crossentropy", "huber", "kl_divergence", "dice"}) {
    const CompileParams compile = Parse(loss, "None");
    TensorTargets targets;
    targets.classes = at::tensor({1, 3}, at::kLong);
    const std::vector<float> output = {0.2F, 0.5F, 0.3F, 0.1F, 0.1F, 0.8F};
    PlannedLoss planned(compile.loss, compile.loss_options, false, 2, {3}, *BaselineKernels(),
                        kNoLosses);
    EXPECT_THROW(planned.Run(output.data(), RawTargets(targets), nullptr, nullptr), Error) << loss;
  }
}

class KerasMetric : public testing::TestWithParam<nlohmann::json> {};

TEST_P(KerasMetric, Values) {
  const nlohmann::json& the_case = GetParam();
  const std::string name = the_case["metric"];
  const int k = the_case["k"];
  const std::string text = k == 0 ? name : name + "(" + std::to_string(k) + ")";
  const MetricParams metric = Parse("mse", "[" + text + "]").metrics.at(0);
  const at::Tensor z = ToTensor(Metrics().Get(the_case, "logits"));
  const TensorTargets targets =
      CaseTargets(the_case, Metrics().Get(the_case, "values"), z.size(-1));
  const Activation last = LastActivation(the_case);
  // From the model's output, and where the loss leaves it so from its logits.
  for (bool logits : {false, true}) {
    if (logits && last == Activation::kLinear) continue;
    const at::Tensor values =
        MetricPerExample(metric, logits ? z : Output(the_case, z), logits, last, targets);
    ASSERT_EQ(values.dim(), 1);
    ASSERT_EQ(values.scalar_type(), at::kFloat);
    EXPECT_LE(RelativeDifference(values.contiguous().const_data_ptr<float>(),
                                 Metrics().Get(the_case, "metric").values),
              1e-5)
        << (logits ? "from logits" : "from outputs");
    double sum = 0.0;
    AddTensorSums(metric, logits ? z : Output(the_case, z), logits, last, targets, &sum);
    const std::vector<float>& wanted = Metrics().Get(the_case, "metric").values;
    const double expected = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    EXPECT_NEAR(sum, expected, 1e-5 * std::max(1.0, std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasMetric,
                         testing::ValuesIn(Metrics().cases().begin(), Metrics().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

const BaselineTable& MetricValues() {
  static const BaselineTable table("keras_metric_values.safetensors");
  return table;
}

class KerasMetricValue : public testing::TestWithParam<nlohmann::json> {};

// Three batches summed apart from each other and then merged, as buffers and partitions are.
TEST_P(KerasMetricValue, OfMergedSums) {
  const nlohmann::json& the_case = GetParam();
  const CompileParams compile = Parse("mse", "[" + the_case["metric"].get<std::string>() + "]");
  ASSERT_EQ(compile.metrics.size(), 1U);
  const MetricParams& metric = compile.metrics[0];
  const at::Tensor z = ToTensor(MetricValues().Get(the_case, "logits"));
  const TensorTargets targets =
      CaseTargets(the_case, MetricValues().Get(the_case, "values"), z.size(-1));
  const Activation last = LastActivation(the_case);
  for (bool logits : {false, true}) {
    if (logits && last == Activation::kLinear) continue;
    const at::Tensor output = logits ? z : Output(the_case, z);
    const auto count = static_cast<size_t>(MetricSumCount(metric, z.size(-1)));
    std::vector<double> sums(count, 0.0);
    for (int64_t first = 0; first < z.size(0); first += 20) {
      TensorTargets part = targets;
      if (part.classes.defined()) part.classes = part.classes.narrow(0, first, 20);
      if (part.values.defined()) part.values = part.values.narrow(0, first, 20);
      std::vector<double> batch(count, 0.0);
      AddTensorSums(metric, output.narrow(0, first, 20), logits, last, part, batch.data());
      for (size_t i = 0; i < count; ++i) sums[i] += batch[i];
    }
    const double value = MetricValue(metric, sums.data(), z.size(0), z.size(-1));
    const double expected = the_case["result"];
    EXPECT_NEAR(value, expected, 2e-6 * std::max(1.0, std::abs(expected)))
        << (logits ? "from logits" : "from outputs");
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasMetricValue,
                         testing::ValuesIn(MetricValues().cases().begin(),
                                           MetricValues().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

// Without a single example of one class there is no curve.
TEST(Metric, CountsOfNothingAreZero) {
  for (const char* name : {"precision", "recall", "f1_score", "auc"}) {
    const MetricParams metric = Parse("mse", std::string("[") + name + "]").metrics[0];
    const std::vector<double> sums(static_cast<size_t>(MetricSumCount(metric, 1)), 0.0);
    EXPECT_EQ(MetricValue(metric, sums.data(), 0, 1), 0.0) << name;
  }
}

TEST(Metric, TopKWithoutFiniteOutputsIsWrong) {
  MetricParams metric;
  metric.type = FindMetric("top_k");
  metric.k = 3;
  TensorTargets targets;
  targets.classes = at::tensor({1, 1}, at::kLong);
  const at::Tensor output =
      at::tensor({0.1F, NAN, 0.3F, 0.1F, 0.2F, 0.3F}, at::kFloat).reshape({2, 3});
  const at::Tensor values = MetricPerExample(metric, output, false, Activation::kSoftmax, targets);
  double sum = 0.0;
  AddTensorSums(metric, output, false, Activation::kSoftmax, targets, &sum);
  EXPECT_EQ(sum, 1.0);
  EXPECT_EQ(values[0].item<float>(), 0.0F);
  EXPECT_EQ(values[1].item<float>(), 1.0F);
}

// Keras looks for the largest of one label as of one output: at the first, whatever they are.
TEST(Metric, OneOutputUnitIsTheOnlyClass) {
  TensorTargets targets;
  targets.classes = at::tensor({0, 1, 1}, at::kLong);
  const at::Tensor output = at::tensor({0.1F, 0.2F, 0.9F}, at::kFloat).reshape({3, 1});
  for (const char* name : {"top_k", "categorical_accuracy"}) {
    MetricParams metric;
    metric.type = FindMetric(name);
    metric.k = 2;
    const at::Tensor values =
        MetricPerExample(metric, output, false, Activation::kSigmoid, targets);
    EXPECT_EQ(values.min().item<float>(), 1.0F);
    double sum = 0.0;
    AddTensorSums(metric, output, false, Activation::kSigmoid, targets, &sum);
    EXPECT_EQ(sum, 3.0);
  }
}

}  // namespace
}  // namespace hopper
