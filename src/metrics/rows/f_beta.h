// keras.metrics.FBetaScore, F1Score.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

inline double FBetaValue(const MetricParams& metric, const double* sums, const SummedOver& of) {
  const int64_t classes = metric.average == FAverage::kMicro ? 1 : of.width;
  const double square = metric.beta * metric.beta;
  double sum = 0.0, weights = 0.0;
  for (int64_t j = 0; j < classes; ++j) {
    const double* counts = sums + j * kClassCounts;
    const double precision = counts[kTp] / (counts[kTp] + counts[kFp] + kKerasEpsilon);
    const double recall = counts[kTp] / (counts[kTp] + counts[kFn] + kKerasEpsilon);
    const double score =
        (1.0 + square) * (precision * recall / (square * precision + recall + kKerasEpsilon));
    const double weight = metric.average == FAverage::kWeighted ? counts[kTp] + counts[kFn] : 1.0;
    sum += weight * score;
    weights += weight;
  }
  return metric.average == FAverage::kWeighted ? sum / (weights + kKerasEpsilon) : sum / weights;
}

template <bool kHasBeta>
void AddFBetaArguments(MetricParams* metric, ArgumentList* arguments) {
  arguments->AddWord<FAverage>(
      "average",
      {{"macro", FAverage::kMacro}, {"micro", FAverage::kMicro}, {"weighted", FAverage::kWeighted}},
      &metric->average);
  if (kHasBeta) arguments->AddNumber("beta", kPositive, &metric->beta);
  arguments->AddThreshold("threshold", &metric->threshold);
}

struct FBetaScore {
  static MetricType Type() {
    MetricType type;
    type.direction = Direction::kUp;
    type.summed = Summed::kClassConfusion;
    type.value = FBetaValue;
    type.arguments = AddFBetaArguments<true>;
    return Named(type, {"fbeta_score"}, {"f_beta_score"});
  }
};

struct F1Score {
  static MetricType Type() {
    MetricType type = Named(FBetaScore::Type(), {"f1_score"});
    type.arguments = AddFBetaArguments<false>;
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
