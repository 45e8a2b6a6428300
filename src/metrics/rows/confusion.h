// Counts of what is right and wrong, precision and recall.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// Keras leaves it to the user what is wanted of counts: they have no direction.
template <int64_t kAt>
MetricType ConfusionCount(const char* name) {
  MetricType type;
  type.names = {name};
  type.summed = Summed::kConfusion;
  type.value = [](const MetricParams& /*metric*/, const double* sums, const SummedOver& /*of*/) {
    return sums[kAt];
  };
  type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
    arguments->AddThreshold("thresholds", &metric->threshold);
  };
  return type;
}
inline MetricType TruePositives() { return ConfusionCount<kTp>("true_positives"); }
inline MetricType TrueNegatives() { return ConfusionCount<kTn>("true_negatives"); }
inline MetricType FalsePositives() { return ConfusionCount<kFp>("false_positives"); }
inline MetricType FalseNegatives() { return ConfusionCount<kFn>("false_negatives"); }

// The share of true positives among these and the counts at kOther.
template <int64_t kOther>
MetricType ShareOfPositives(const char* name) {
  MetricType type;
  type.names = {name};
  type.direction = Direction::kUp;
  type.summed = Summed::kConfusion;
  type.value = [](const MetricParams& /*metric*/, const double* sums, const SummedOver& /*of*/) {
    return Divide(sums[kTp], sums[kTp] + sums[kOther]);
  };
  type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
    arguments->AddThreshold("thresholds", &metric->threshold);
    arguments->AddInteger("top_k", 1, &metric->top_k);
    arguments->AddInteger("class_id", 0, &metric->class_id);
  };
  return type;
}
inline MetricType Precision() { return ShareOfPositives<kFp>("precision"); }
inline MetricType Recall() { return ShareOfPositives<kFn>("recall"); }

}  // namespace metric_rows
}  // namespace hopper
