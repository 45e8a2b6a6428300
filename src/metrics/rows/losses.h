// Losses as metrics: any of them, and those that have a form of their own.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// The value of MetricParams::loss.
struct AnyLoss : OfExamples {
  static MetricType Type() { return Mean(Direction::kDown); }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Loss(c.metric.loss, c.metric.loss_options);
  }
};

struct RootMeanSquaredError : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kDown);
    type.power_of_unit = 1;
    type.value = [](const MetricParams& metric, const double* sums, const SummedOver& of) {
      return std::sqrt(MeanOfExamples(metric, sums, of));
    };
    return Named(type, {"root_mean_squared_error"}, {"rmse"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Loss(LossKind::kMeanSquaredError, {});
  }
};

// Binary with a single output, categorical or sparse, by the labels, with several.
struct Crossentropy : OfExamples {
  static MetricType Type() { return Named(Mean(Direction::kDown), {"crossentropy"}, {"ce"}); }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Loss(c.width() == 1        ? LossKind::kBinaryCrossentropy
                  : c.HasClassNumbers() ? LossKind::kSparseCategoricalCrossentropy
                                        : LossKind::kCategoricalCrossentropy,
                  c.metric.loss_options);
  }
};

}  // namespace metric_rows
}  // namespace hopper
