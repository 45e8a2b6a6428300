// keras.metrics.AUC.
#pragma once

#include "metrics/rows/buckets.h"

namespace hopper {
namespace metric_rows {

inline double AucValue(const MetricParams& metric, const double* sums, const SummedOver& /*of*/) {
  const int64_t thresholds = metric.num_thresholds;
  // Positives and negatives above each threshold.
  std::vector<double> tp(static_cast<size_t>(thresholds)), fp(static_cast<size_t>(thresholds));
  const double* other = sums + thresholds + 1;
  double positives = 0.0, negatives = 0.0;
  for (int64_t i = thresholds - 1; i >= 0; --i) {
    tp[static_cast<size_t>(i)] = positives += sums[i];
    fp[static_cast<size_t>(i)] = negatives += other[i];
  }
  positives += sums[thresholds];
  negatives += other[thresholds];
  const bool roc = metric.curve == AucCurve::kRoc;
  double area = 0.0;
  for (size_t i = 0; i + 1 < static_cast<size_t>(thresholds); ++i) {
    if (!roc && metric.summation == AucSum::kInterpolation) {
      // Davis and Goadrich's interpolation between two points of the curve.
      const double p = tp[i] + fp[i], next_p = tp[i + 1] + fp[i + 1];
      const double dtp = tp[i] - tp[i + 1];
      const double slope = Divide(dtp, std::max(p - next_p, 0.0));
      const double intercept = tp[i + 1] - slope * next_p;
      const double ratio = p > 0.0 && next_p > 0.0 ? p / next_p : 1.0;
      area += Divide(slope * (dtp + intercept * std::log(ratio)), positives);
      continue;
    }
    const auto y = [&](size_t at) {
      return roc ? Divide(tp[at], positives) : Divide(tp[at], tp[at] + fp[at]);
    };
    const auto x = [&](size_t at) {
      return roc ? Divide(fp[at], negatives) : Divide(tp[at], positives);
    };
    const double height = metric.summation == AucSum::kMinoring   ? std::min(y(i), y(i + 1))
                          : metric.summation == AucSum::kMajoring ? std::max(y(i), y(i + 1))
                                                                  : (y(i) + y(i + 1)) / 2.0;
    area += (x(i) - x(i + 1)) * height;
  }
  return std::min(area, 1.0);  // sums of quotients are rounded
}

struct Auc : BucketSums<false> {
  static MetricType Type() {
    MetricType type;
    type.names = {"auc"};
    type.direction = Direction::kUp;
    type.of_unit = true;
    type.value = AucValue;
    type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
      AddNumThresholds(metric, arguments);
      arguments->AddWord<AucCurve>("curve", {{"ROC", AucCurve::kRoc}, {"PR", AucCurve::kPr}},
                                   &metric->curve);
      arguments->AddWord<AucSum>("summation_method",
                                 {{"interpolation", AucSum::kInterpolation},
                                  {"minoring", AucSum::kMinoring},
                                  {"majoring", AucSum::kMajoring}},
                                 &metric->summation);
      arguments->AddBool("from_logits", &metric->loss_options.from_logits);
    };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
