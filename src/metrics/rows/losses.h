// Losses as metrics: any of them, and those that have a form of their own.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// The value of MetricParams::loss.
struct AnyLoss : OfLoss {
  static MetricType Type() {
    return Mean([](const MetricParams& metric, int64_t, bool) {
      return MetricLoss{metric.loss, metric.loss_options};
    });
  }
};

struct RootMeanSquaredError : OfLoss {
  static MetricType Type() {
    MetricType type = Mean([](const MetricParams&, int64_t, bool) {
      return MetricLoss{LossKind::kMeanSquaredError, {}};
    });
    type.power_of_unit = 1;
    type.value = [](const MetricParams& metric, const double* sums, const SummedOver& of) {
      return std::sqrt(MeanOfExamples(metric, sums, of));
    };
    return Named(type, {"root_mean_squared_error"}, {"rmse"});
  }
};

// Binary with a single output, categorical or sparse, by the labels, with several.
struct Crossentropy : OfLoss {
  static MetricType Type() {
    const auto loss = [](const MetricParams& metric, int64_t width, bool class_numbers) {
      return MetricLoss{width == 1      ? LossKind::kBinaryCrossentropy
                        : class_numbers ? LossKind::kSparseCategoricalCrossentropy
                                        : LossKind::kCategoricalCrossentropy,
                        metric.loss_options};
    };
    return Named(Mean(loss), {"crossentropy"}, {"ce"});
  }
};

}  // namespace metric_rows
}  // namespace hopper
