// keras.metrics.PrecisionAtRecall and the like: one rate where the other reaches a bound.
#pragma once

#include "metrics/rows/buckets.h"

namespace hopper {
namespace metric_rows {

struct Rates {
  double precision, recall, specificity;
};

// keras.metrics.SensitivitySpecificityBase: the largest value among the thresholds where the other
// one reaches the bound, 0 where none does.
template <double Rates::*kValue, double Rates::*kHeld>
double BestAtBound(const MetricParams& metric, const double* sums, const SummedOver& /*of*/) {
  const int64_t thresholds = metric.num_thresholds;
  const double* other = sums + thresholds + 1;
  const double positives = std::accumulate(sums, sums + thresholds + 1, 0.0);
  const double negatives = std::accumulate(other, other + thresholds + 1, 0.0);
  double best = 0.0, tp = 0.0, fp = 0.0;
  for (int64_t i = thresholds - 1; i >= 0; --i) {
    tp += sums[i];
    fp += other[i];
    const Rates rates = {Divide(tp, tp + fp), Divide(tp, positives),
                         Divide(negatives - fp, negatives)};
    // Keras computes what it compares in float32.
    if (static_cast<float>(rates.*kHeld) >= static_cast<float>(metric.bound)) {
      best = std::max(best, rates.*kValue);
    }
  }
  return best;
}

// `arguments` names the bound.
template <double Rates::*kValue, double Rates::*kHeld>
MetricType AtBound(const char* name, void (*arguments)(MetricParams*, ArgumentList*)) {
  MetricType type;
  type.names = {name};
  type.direction = Direction::kUp;
  type.of_unit = true;
  type.value = BestAtBound<kValue, kHeld>;
  type.arguments = arguments;
  return type;
}

inline void AddBound(const char* name, MetricParams* metric, ArgumentList* arguments) {
  arguments->AddNumber(name, kUnit, &metric->bound, /*required=*/true);
  AddNumThresholds(metric, arguments);
  arguments->AddInteger("class_id", 0, &metric->class_id);
}

struct PrecisionAtRecall : BucketSums<true> {
  static MetricType Type() {
    return AtBound<&Rates::precision, &Rates::recall>(
        "precision_at_recall",
        [](MetricParams* metric, ArgumentList* list) { AddBound("recall", metric, list); });
  }
};

struct RecallAtPrecision : BucketSums<true> {
  static MetricType Type() {
    return AtBound<&Rates::recall, &Rates::precision>(
        "recall_at_precision",
        [](MetricParams* metric, ArgumentList* list) { AddBound("precision", metric, list); });
  }
};

struct SensitivityAtSpecificity : BucketSums<true> {
  static MetricType Type() {
    return AtBound<&Rates::recall, &Rates::specificity>(
        "sensitivity_at_specificity",
        [](MetricParams* metric, ArgumentList* list) { AddBound("specificity", metric, list); });
  }
};

struct SpecificityAtSensitivity : BucketSums<true> {
  static MetricType Type() {
    return AtBound<&Rates::specificity, &Rates::recall>(
        "specificity_at_sensitivity",
        [](MetricParams* metric, ArgumentList* list) { AddBound("sensitivity", metric, list); });
  }
};

}  // namespace metric_rows
}  // namespace hopper
