// keras.metrics.R2Score.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

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

struct R2Score {
  static MetricType Type() {
    MetricType type;
    type.names = {"r2_score"};
    type.direction = Direction::kUp;
    type.summed = Summed::kMoments;
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
