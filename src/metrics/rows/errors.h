// Errors and crossentropy: losses that have a form of their own as metrics.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

inline MetricType MeanSquaredError() {
  return Named(OfExamples(ExampleValue::kSquaredError, Direction::kDown), {},
               {"mean_squared_error", "mse"});
}

inline MetricType MeanAbsoluteError() {
  return Named(OfExamples(ExampleValue::kAbsoluteError, Direction::kDown), {},
               {"mean_absolute_error", "mae"});
}

inline MetricType RootMeanSquaredError() {
  MetricType type = OfExamples(ExampleValue::kSquaredError, Direction::kDown);
  type.value = [](const MetricParams& metric, const double* sums, const SummedOver& of) {
    return std::sqrt(MeanOfExamples(metric, sums, of));
  };
  return Named(type, {"root_mean_squared_error"}, {"rmse"});
}

inline MetricType Crossentropy() {
  return Named(OfExamples(ExampleValue::kCrossentropy, Direction::kDown), {"crossentropy"}, {"ce"});
}

}  // namespace metric_rows
}  // namespace hopper
