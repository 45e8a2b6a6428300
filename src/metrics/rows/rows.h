// What the metrics' files share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/keras_epsilon.h"
#include "params/metric_type.h"

namespace hopper {
namespace metric_rows {

constexpr int kMaxThresholds = 10000;

inline double Divide(double a, double b) { return b == 0.0 ? 0.0 : a / b; }

inline double MeanOfExamples(const MetricParams& /*metric*/, const double* sums,
                             const SummedOver& of) {
  return sums[0] / static_cast<double>(std::max<int64_t>(of.examples, 1));
}

inline void AddNumThresholds(MetricParams* metric, ArgumentList* arguments) {
  arguments->Add("num_thresholds",
                 [metric](const Value& value, const std::string& label, ProblemList* problems) {
                   const auto n = ReadInteger(value, 2, kMaxThresholds, label, problems);
                   if (n) metric->num_thresholds = static_cast<int>(*n);
                 });
}

// Places of counts.
constexpr int64_t kTp = 0, kFp = 1, kFn = 2, kTn = 3;

// The columns that count: one class, or all.
struct Columns {
  Columns(const MetricParams& metric, int64_t width)
      : first(metric.class_id.value_or(0)), last(metric.class_id ? first + 1 : width) {}
  int64_t first;
  int64_t last;
};

// What a metric derives from that has values of examples.
struct OfExamples {
  // Of values, with weights times these, and then of the weights.
  static int64_t SumCount(const MetricParams& metric, int64_t /*width*/) {
    return metric.weighted || metric.by_row ? 2 : 1;
  }
  // Its mean over the examples.
  static MetricType Mean(Direction direction) {
    MetricType type;
    type.direction = direction;
    type.value = MeanOfExamples;
    return type;
  }
};

// A mean over examples that is a loss: MetricType::loss.
struct OfLoss : OfExamples {
  static MetricType Mean(MetricLoss (*loss)(const MetricParams& metric, int64_t width,
                                            bool class_numbers),
                         Direction direction = Direction::kDown) {
    MetricType type = OfExamples::Mean(direction);
    type.loss = loss;
    return type;
  }
};

inline MetricType Named(MetricType type, std::vector<std::string> names,
                        std::vector<std::string> aliases = {}) {
  type.names = std::move(names);
  type.aliases = std::move(aliases);
  return type;
}

}  // namespace metric_rows
}  // namespace hopper
