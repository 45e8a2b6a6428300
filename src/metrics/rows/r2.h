// keras.metrics.R2Score.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// Of each output: label, its square, squared error; then the rows.
struct MomentSums {
  static int64_t SumCount(const MetricParams& /*metric*/, int64_t width) { return 3 * width + 1; }

  static void Add(const MetricParams& /*metric*/, const CountedRows& rows, double* sums) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      for (int64_t j = 0; j < rows.width; ++j) {
        const auto y = static_cast<double>(rows.labels[i * rows.width + j]);
        const double error = y - static_cast<double>(rows.outputs[i * rows.width + j]);
        sums[3 * j] += y;
        sums[3 * j + 1] += y * y;
        sums[3 * j + 2] += error * error;
      }
    }
    sums[3 * rows.width] += static_cast<double>(rows.rows);
  }

  template <typename Call>
  static auto Lanes(const Call& c) {
    const auto y = c.Doubles(c.labels);
    const auto error = square(sub(y, c.Doubles(c.outputs)));
    return c.ThenRows(sum(c.Stack({y, square(y), error}, 3), {1}).flatten(1));
  }
};

inline double R2Value(const MetricParams& metric, const double* sums, const SummedOver& of) {
  const int64_t width = of.width;
  const double n = sums[3 * width];
  double sum = 0.0, weights = 0.0;
  for (int64_t j = 0; j < width; ++j) {
    const double total = sums[3 * j + 1] - sums[3 * j] * (sums[3 * j] / n);
    const double score = 1.0 - sums[3 * j + 2] / total;
    const double weight = metric.aggregation == R2Aggregation::kUniform ? 1.0 : total;
    sum += std::isinf(score) ? 0.0 : weight * score;
    weights += weight;
  }
  const double score = sum / weights;
  // Adjusted where there are more samples than regressors; Keras counts outputs as samples.
  const double samples = n * static_cast<double>(width);
  const double freedom = samples - static_cast<double>(metric.num_regressors) - 1.0;
  if (metric.num_regressors == 0 || freedom <= 0.0) return score;
  return 1.0 - (1.0 - score) * (samples - 1.0) / freedom;
}

struct R2Score : MomentSums {
  static MetricType Type() {
    MetricType type;
    type.names = {"r2_score"};
    type.power_of_unit = 0;
    type.direction = Direction::kUp;
    type.value = R2Value;
    type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
      arguments->AddWord<R2Aggregation>(
          "class_aggregation",
          {{"uniform_average", R2Aggregation::kUniform},
           {"variance_weighted_average", R2Aggregation::kVarianceWeighted}},
          &metric->aggregation);
      arguments->AddInteger("num_regressors", 0, &metric->num_regressors);
    };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
