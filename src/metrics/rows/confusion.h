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
struct TruePositives {
  static MetricType Type() { return ConfusionCount<kTp>("true_positives"); }
};

struct TrueNegatives {
  static MetricType Type() { return ConfusionCount<kTn>("true_negatives"); }
};

struct FalsePositives {
  static MetricType Type() { return ConfusionCount<kFp>("false_positives"); }
};

struct FalseNegatives {
  static MetricType Type() { return ConfusionCount<kFn>("false_negatives"); }
};

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
struct Precision {
  static MetricType Type() { return ShareOfPositives<kFp>("precision"); }
};

struct Recall {
  static MetricType Type() { return ShareOfPositives<kFn>("recall"); }
};

}  // namespace metric_rows
}  // namespace hopper
