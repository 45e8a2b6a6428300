// keras.metrics.FBetaScore, F1Score.
#pragma once

#include "metrics/largest.h"
#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// Counts of each output by itself, one class after another: the largest of several without a
// threshold.
struct ClassConfusionSums {
  static constexpr int64_t kCounts = 3;
  static int64_t SumCount(const MetricParams& metric, int64_t width) {
    return metric.average == FAverage::kMicro ? kCounts : kCounts * width;
  }

  static void Add(const MetricParams& metric, const CountedRows& rows, double* sums) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      const float* p = rows.outputs + i * rows.width;
      const float* y = rows.labels + i * rows.width;
      const bool largest = !metric.threshold && rows.width > 1;
      const float threshold = largest ? p[LargestPlace(p, rows.width)]
                                      : static_cast<float>(metric.threshold.value_or(0.5));
      for (int64_t j = 0; j < rows.width; ++j) {
        const bool predicted =
            largest ? p[j] >= threshold && std::abs(p[j]) > 1e-9F : p[j] > threshold;
        double* counts = sums + (metric.average == FAverage::kMicro ? 0 : j * kCounts);
        const auto wanted = static_cast<double>(y[j]);
        counts[kTp] += predicted ? wanted : 0.0;
        counts[kFp] += predicted ? 1.0 - wanted : 0.0;
        counts[kFn] += predicted ? 0.0 : wanted;
      }
    }
  }

  template <typename Call>
  static auto Lanes(const Call& c) {
    const bool largest = !c.metric.threshold && c.width() > 1;
    const auto predicted =
        largest ? ge(c.outputs, amax(c.outputs, {2}, true)).logical_and(gt(abs(c.outputs), 1e-9))
                : gt(c.outputs, static_cast<float>(c.metric.threshold.value_or(0.5)));
    const auto hit = c.Doubles(predicted), y = c.Doubles(c.labels);
    const auto tp = mul(hit, y), fp = mul(hit, rsub(y, 1.0)), fn = mul(rsub(hit, 1.0), y);
    auto counts = sum(c.Stack({tp, fp, fn}, 3), {1});  // [lanes, width, 3]
    if (c.metric.average == FAverage::kMicro) counts = sum(counts, {1}, true);
    return counts.flatten(1);
  }
};

inline double FBetaValue(const MetricParams& metric, const double* sums, const SummedOver& of) {
  const int64_t classes = metric.average == FAverage::kMicro ? 1 : of.width;
  const double square = metric.beta * metric.beta;
  double sum = 0.0, weights = 0.0;
  for (int64_t j = 0; j < classes; ++j) {
    const double* counts = sums + j * ClassConfusionSums::kCounts;
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

struct FBetaScore : ClassConfusionSums {
  static MetricType Type() {
    MetricType type;
    type.direction = Direction::kUp;
    type.halves = [](const MetricParams& /*metric*/, int64_t /*width*/) { return true; };
    type.value = FBetaValue;
    type.arguments = AddFBetaArguments<true>;
    return Named(type, {"fbeta_score"}, {"f_beta_score"});
  }
};

struct F1Score : ClassConfusionSums {
  static MetricType Type() {
    MetricType type = Named(FBetaScore::Type(), {"f1_score"});
    type.arguments = AddFBetaArguments<false>;
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
