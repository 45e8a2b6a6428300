// A metric's sums: how many there are, and what it makes of them.
#pragma once

#include <cstdint>

#include "params/metric_params.h"
#include "params/metric_type.h"

namespace hopper {

// `width` is the model's last output axis.
inline int64_t MetricSumCount(const MetricParams& metric, int64_t width) {
  return metric.type->sum_count(metric, width);
}

// The metric's value after `examples` examples.
inline double MetricValue(const MetricParams& metric, const double* sums, int64_t examples,
                          int64_t width) {
  if (metric.weighted || metric.by_row) {
    const double mean = sums[1] == 0.0 ? 0.0 : sums[0] / sums[1];
    return metric.type->value(metric, &mean, {1, width});
  }
  return metric.type->value(metric, sums, {examples, width});
}

// By what a metric of scaled labels is multiplied so that it is in their own unit; `unit` 0: they
// are not scaled. An output's loss stays in the unit of training, as that of all outputs does.
inline double UnitFactor(const MetricParams& metric, double unit) {
  const int power = PowerOfUnit(metric);
  if (unit == 0.0 || power < 1 || metric.of_loss) return 1.0;
  return power == 1 ? unit : unit * unit;
}

}  // namespace hopper
