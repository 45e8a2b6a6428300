// Losses that users write, focal crossentropies and MeanIoU against real Keras
// (test/baseline/generate_keras_expressions.py).
#include "params/expression.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "autograd/tensor_loss.h"
#include "loss/planned_loss.h"
#include "support/tensor_batches.h"

namespace hopper {
namespace {

using nlohmann::json;

const json& Table() {
  static const json table = [] {
    std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_expressions.json");
    return json::parse(file);
  }();
  return table;
}

CompileParams Compile(const std::string& loss) {
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams("optimizer='SGD()', loss='" + loss + "'", &problems);
  EXPECT_TRUE(problems.empty()) << loss << ": " << problems.front().message;
  return compile;
}

at::Tensor TensorOf(const json& values, const json& shape) {
  const auto floats = values.get<std::vector<float>>();
  const auto sizes = shape.get<std::vector<int64_t>>();
  return at::from_blob(const_cast<float*>(floats.data()), sizes,
                       at::TensorOptions().dtype(at::kFloat))
      .clone();
}

void ExpectNear(const float* values, const std::vector<float>& wanted, const std::string& what) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], 2e-6 + 2e-5 * std::fabs(wanted[i])) << what << " " << i;
  }
}

TEST(Expressions, AreKerasCustomLosses) {
  std::set<std::string> used;
  for (const json& one : Table()["losses"]) {
    const std::string name = one["loss"];
    SCOPED_TRACE(name + " with outputs of shape " + one["shape"].dump());
    const CompileParams compile = Compile(name);
    TensorTargets targets;
    targets.values = TensorOf(one["labels"], one["shape"]);
    at::Tensor output = TensorOf(one["outputs"], one["shape"]).set_requires_grad(true);
    const at::Tensor loss =
        LossPerExample(compile.loss, output, false, targets, compile.loss_options);
    const int64_t n = output.size(0);
    ASSERT_EQ(loss.numel(), n);
    const auto values = one["values"].get<std::vector<float>>();
    const auto gradient = one["gradient"].get<std::vector<float>>();
    const at::Tensor detached = loss.detach().contiguous();
    ExpectNear(detached.data_ptr<float>(), values, "loss");
    std::vector<float> factors(static_cast<size_t>(n), 1.0F / static_cast<float>(n));
    loss.backward(at::from_blob(factors.data(), {n}, at::TensorOptions().dtype(at::kFloat)));
    ExpectNear(output.grad().contiguous().data_ptr<float>(), gradient, "gradient");

    // Planned steps, which run expressions through autograd, give equal numbers: bit for bit.
    const CountedLosses backend;
    PlannedLoss planned(compile.loss, compile.loss_options, false, n, {output.size(1)},
                        KernelsFor("DEFAULT"), backend);
    std::vector<float> planned_gradient(gradient.size());
    const at::Tensor raw = output.detach().contiguous();
    planned.Run(raw.data_ptr<float>(), RawTargets(targets), factors.data(),
                planned_gradient.data());
    const at::Tensor dense = output.grad().contiguous();
    EXPECT_EQ(backend.count == 1, compile.loss == LossKind::kExpression);
    if (backend.count == 0) {
      ExpectNear(planned.losses(), values, "planned loss");
      ExpectNear(planned_gradient.data(), gradient, "planned gradient");
      continue;
    }
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(planned.losses()[i], detached.data_ptr<float>()[i]);
    for (size_t i = 0; i < gradient.size(); ++i) {
      EXPECT_EQ(planned_gradient[i], dense.data_ptr<float>()[i]);
    }
    for (const std::string& function : ExpressionFunctions()) {
      if (name.find(function + "(") != std::string::npos) used.insert(function);
    }
  }
  EXPECT_EQ(std::vector<std::string>(used.begin(), used.end()), ExpressionFunctions());
}

TEST(Expressions, AreMetrics) {
  std::vector<ParamProblem> problems;
  const CompileParams compile = ParseCompileParams(
      "optimizer='SGD()', loss='mse', metrics=['expr max hits: mean(round(p) == y)', "
      "'expr: sum(y * p)']",
      &problems);
  ASSERT_TRUE(problems.empty());
  ASSERT_EQ(compile.metrics.size(), 2U);
  TensorTargets targets;
  targets.values = TensorOf(json{1, 0, 0, 1}, json{2, 2});
  const at::Tensor output = TensorOf(json{0.75, 0.5, 0.75, 0.25}, json{2, 2});
  const at::NoGradGuard no_grad;
  std::array<double, 2> hits = {}, products = {};
  AddTensorSums(compile.metrics[0], output, false, Activation::kLinear, targets, hits.data());
  AddTensorSums(compile.metrics[1], output, false, Activation::kLinear, targets, products.data());
  EXPECT_EQ(MetricValue(compile.metrics[0], hits.data(), 2, 2), 0.5);  // 1, 1 and 0, 0
  EXPECT_EQ(MetricValue(compile.metrics[1], products.data(), 2, 2), 0.5);
}

TEST(Expressions, PassNaNOn) {
  TensorTargets targets;
  targets.values = TensorOf(json{1, 0}, json{2, 1});
  at::Tensor output = TensorOf(json{0.5, 0.5}, json{2, 1});
  output.data_ptr<float>()[1] = std::nanf("");
  for (const char* text : {"maximum(p, 0.1)", "maximum(0.1, p)", "minimum(p, 0.1)",
                           "minimum(0.1, p)", "clip(p, 0, 1)", "mean(square(y - p))"}) {
    const CompileParams compile = Compile("expr: " + std::string(text));
    const at::Tensor loss =
        LossPerExample(compile.loss, output, false, targets, compile.loss_options);
    EXPECT_FALSE(std::isnan(loss.data_ptr<float>()[0])) << text;
    EXPECT_TRUE(std::isnan(loss.data_ptr<float>()[1])) << text;
  }
}

TEST(MeanIoU, IsKeras) {
  for (const json& one : Table()["mean_io_u"]) {
    MetricParams metric;
    metric.type = FindMetric("mean_io_u");
    const int64_t n = one["shape"][0], width = one["shape"][1];
    TensorTargets targets;
    targets.values = TensorOf(one["labels"], one["shape"]);
    const at::Tensor output = TensorOf(one["outputs"], one["shape"]);
    std::vector<double> sums(static_cast<size_t>(MetricSumCount(metric, width)));
    const at::NoGradGuard no_grad;
    AddTensorSums(metric, output, false, Activation::kLinear, targets, sums.data());
    EXPECT_NEAR(MetricValue(metric, sums.data(), n, width), one["value"].get<double>(), 1e-6);
  }
}

}  // namespace
}  // namespace hopper
