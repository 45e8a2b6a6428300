// How a metric's sums lie: shared by what adds them and what reads them.
#pragma once

#include <cstdint>

#include "params/metric_type.h"

namespace hopper {

// kConfusion; kClassConfusion has the first three of each class, one after another.
constexpr int64_t kTp = 0, kFp = 1, kFn = 2, kTn = 3, kCounts = 4, kClassCounts = 3;

// A single output stands for two classes.
inline int64_t ClassCount(int64_t width) { return width == 1 ? 2 : width; }

// How many sums; `width` is the model's last output axis.
inline int64_t MetricSumCount(const MetricParams& metric, int64_t width) {
  switch (metric.type->summed) {
    case Summed::kExamples:  // of values by weights, then of weights
      return metric.weighted ? 2 : 1;
    case Summed::kConfusion:
      return kCounts;
    case Summed::kClassConfusion:
      return metric.average == FAverage::kMicro ? kClassCounts : kClassCounts * width;
    case Summed::kBuckets:  // positives, then negatives; what is above no threshold behind each
    case Summed::kBucketsAndZero:
      return 2 * (static_cast<int64_t>(metric.num_thresholds) + 1);
    case Summed::kMoments:
      return 3 * width + 1;
    case Summed::kClassMatrix:  // a row a label
      return ClassCount(width) * ClassCount(width);
    case Summed::kBinaryMatrix:
      return 4;
  }
  return 0;
}

// The metric's value after `examples` examples.
inline double MetricValue(const MetricParams& metric, const double* sums, int64_t examples,
                          int64_t width) {
  if (metric.weighted) {
    const double mean = sums[1] == 0.0 ? 0.0 : sums[0] / sums[1];
    return metric.type->value(metric, &mean, {1, width});
  }
  return metric.type->value(metric, sums, {examples, width});
}

}  // namespace hopper
