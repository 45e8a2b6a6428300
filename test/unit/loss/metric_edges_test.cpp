// Metrics where there is little to be said, against real Keras: generate_keras_metric_edges.py.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/lane_metrics.h"
#include "model/network/activate.h"
#include "support/tensor_batches.h"

namespace hopper {
namespace {

using nlohmann::json;

double EdgeNumber(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

at::Tensor EdgeTensor(const json& values, const std::vector<int64_t>& shape) {
  std::vector<float> numbers;
  for (const json& value : values) numbers.push_back(static_cast<float>(EdgeNumber(value)));
  return at::tensor(numbers, at::kFloat).reshape(shape);
}

// A few rows, in the batches in which Keras got them.
struct Situation {
  explicit Situation(const json& found) : name(found["name"]), rows(found["batches"]) {
    const std::string word = found["last"];
    last = word == "softmax"   ? Activation::kSoftmax
           : word == "sigmoid" ? Activation::kSigmoid
                               : Activation::kLinear;
    numbers = EdgeTensor(found["numbers"], found["shape"]);
    const at::Tensor labels = EdgeTensor(found["labels"], found["label_shape"]);
    if (found["targets"] == "classes") {
      targets.classes = labels.to(at::kLong);
      targets.num_classes = numbers.size(-1);
    } else {
      targets.values = labels;
    }
    if (!found["weights"].is_null()) {
      weights = EdgeTensor(found["weights"], {numbers.size(0)});
    }
  }

  at::Tensor Output(bool logits) const {
    ActivationSpec activation;
    activation.kind = last;
    return logits ? numbers : Activate(numbers, activation).contiguous();
  }

  std::string name;
  std::vector<int64_t> rows;
  Activation last = Activation::kLinear;
  at::Tensor numbers;
  TensorTargets targets;
  at::Tensor weights;
};

TensorTargets RowsOf(const TensorTargets& all, int64_t first, int64_t count) {
  TensorTargets part = all;
  if (part.classes.defined()) part.classes = part.classes.narrow(0, first, count);
  if (part.values.defined()) part.values = part.values.narrow(0, first, count);
  return part;
}

MetricParams EdgeMetric(const std::string& text, bool weighted) {
  std::vector<ParamProblem> problems;
  const CompileParams params =
      ParseCompileParams(std::string("optimizer=SGD, loss=mse, ") +
                             (weighted ? "weighted_metrics" : "metrics") + "=[" + text + "]",
                         &problems);
  for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
  return params.metrics.at(0);
}

enum class SummedBy { kRows, kTensors };

// Each batch on its own, then merged, as buffers and partitions are.
double EdgeValue(const Situation& situation, const MetricParams& metric, bool logits, SummedBy by) {
  const at::Tensor output = situation.Output(logits);
  const int64_t width = output.size(-1);
  const auto count = static_cast<size_t>(MetricSumCount(metric, width));
  std::vector<double> sums(count, 0.0);
  int64_t first = 0;
  for (const int64_t rows : situation.rows) {
    const at::Tensor part = output.narrow(0, first, rows);
    const TensorTargets targets = RowsOf(situation.targets, first, rows);
    const at::Tensor weights =
        situation.weights.defined() ? situation.weights.narrow(0, first, rows) : at::Tensor();
    std::vector<double> batch(count, 0.0);
    if (by == SummedBy::kRows) {
      AddTensorSums(metric, part, logits, situation.last, targets, batch.data(), weights);
    } else {
      // Of two models that are alike.
      const auto twice = [](const at::Tensor& x) { return x.defined() ? at::cat({x, x}) : x; };
      TensorTargets both = targets;
      both.classes = twice(targets.classes);
      both.values = twice(targets.values);
      const at::Tensor lanes =
          LaneMetricSums(metric, twice(part), logits, situation.last, both, twice(weights), 2);
      EXPECT_EQ(lanes.size(1), static_cast<int64_t>(count));
      for (size_t i = 0; i < count; ++i) {
        batch[i] = lanes[1][static_cast<int64_t>(i)].item<double>();
      }
    }
    for (size_t i = 0; i < count; ++i) sums[i] += batch[i];
    first += rows;
  }
  EXPECT_EQ(first, output.size(0));
  return MetricValue(metric, sums.data(), first, width);
}

bool SameNumber(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 2e-6 * std::max(1.0, std::abs(b));
}

// Where we say another thing, and why: docs/reference/architectures.md.
struct OwnValue {
  const char* situation;
  const char* metric;
  double value;
  bool logits;  // only where the metric gets them
};
const OwnValue kOwnValues[] = {
    // Logits beside 0, whose sigmoid is 0.5 as a float.
    {"binary_saturated_logits", "accuracy", 0.5, true},
    {"binary_saturated_logits", "BinaryAccuracy()", 0.5, true},
    // NaN is the largest of a row; TensorFlow's argmax looks past it.
    {"labels_nan", "accuracy", 2.0 / 3.0, false},
    {"classes_nan", "accuracy", 0.5, false},
    {"classes_nan", "CategoricalAccuracy()", 0.5, false},
    {"classes_nan", "OneHotIoU(num_classes=3, target_class_ids=[1])", 0.0, false},
    {"classes_nan", "OneHotMeanIoU(num_classes=3)", 1.0 / 3.0, false},
    {"classes_nan", "OneHotMeanIoU(num_classes=3, ignore_class=0)", 1.0 / 6.0, false},
    {"classes_nan", "Precision(top_k=1)", 1.0, false},
    {"classes_nan", "Recall(top_k=1)", 0.25, false},
    {"classes_nan", "Precision(top_k=2)", 0.6, false},
    // Squares that are 0 as floats.
    {"numbers_tiny", "R2Score()", -3.0, false},
    {"numbers_tiny", "R2Score(class_aggregation='variance_weighted_average')", -3.0, false},
    {"numbers_tiny", "R2Score(num_regressors=1)", -3.0, false},
    {"numbers_tiny", "R2Score(num_regressors=50)", -3.0, false},
};

double OwnOr(double keras, const std::string& situation, const std::string& metric, bool logits) {
  for (const OwnValue& own : kOwnValues) {
    if (situation != own.situation || metric != own.metric || logits != own.logits) continue;
    EXPECT_FALSE(SameNumber(own.value, keras)) << situation << ": " << metric << " is as Keras'";
    return own.value;
  }
  return keras;
}

TEST(MetricEdges, AsKeras) {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_metric_edges.json");
  const json table = json::parse(file);
  int n = 0;
  for (const json& found : table["situations"]) {
    const Situation situation(found);
    for (const auto& [text, wanted] : found["results"].items()) {
      ++n;
      const MetricParams metric = EdgeMetric(text, situation.weights.defined());
      for (const bool logits : {false, true}) {
        if (logits && situation.last == Activation::kLinear) continue;
        const double expected = OwnOr(EdgeNumber(wanted), situation.name, text, logits);
        for (const SummedBy by : {SummedBy::kRows, SummedBy::kTensors}) {
          const double value = EdgeValue(situation, metric, logits, by);
          EXPECT_TRUE(SameNumber(value, expected))
              << situation.name << ": " << text << " is " << value << ", not " << expected
              << (logits ? ", from logits" : "") << (by == SummedBy::kRows ? "" : ", by tensors");
        }
      }
    }
  }
  EXPECT_GT(n, 3500);
}

}  // namespace
}  // namespace hopper
