// What metrics make of their sums.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "metrics/accumulate.h"
#include "metrics/metric_sums.h"

namespace hopper {
namespace {

constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

double Divide(double a, double b) { return b == 0.0 ? 0.0 : a / b; }

// The mean over the classes that are asked for. Those that neither labels nor predictions have are
// left out.
double IoU(const MetricParams& metric, const double* sums, int64_t classes) {
  double sum = 0.0, present = 0.0;
  const auto add = [&](int64_t i) {
    double labels = 0.0, predictions = 0.0;
    for (int64_t j = 0; j < classes; ++j) {
      if (metric.ignore_class != i) labels += sums[i * classes + j];
      if (metric.ignore_class != j) predictions += sums[j * classes + i];
    }
    const double hits = metric.ignore_class == i ? 0.0 : sums[i * classes + i];
    const double all = labels + predictions - hits;
    if (all == 0.0) return;
    sum += hits / (all + kEpsilon);
    present += 1.0;
  };
  for (const int i : metric.class_ids) {
    if (i < classes) add(i);
  }
  for (int64_t i = 0; i < classes && metric.class_ids.empty(); ++i) add(i);
  return Divide(sum, present);
}

double Auc(const MetricParams& metric, const double* sums) {
  const int64_t thresholds = metric.num_thresholds;
  // Positives and negatives above each threshold.
  std::vector<double> tp(thresholds), fp(thresholds);
  double positives = 0.0, negatives = 0.0;
  for (int64_t i = thresholds - 1; i >= 0; --i) {
    tp[static_cast<size_t>(i)] = positives += sums[i];
    fp[static_cast<size_t>(i)] = negatives += sums[thresholds + i];
  }
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
  return area;
}

// keras.metrics.SensitivitySpecificityBase: the largest value among the thresholds where the other
// one reaches the bound, 0 where none does.
double Constrained(const MetricParams& metric, const double* sums) {
  const int64_t thresholds = metric.num_thresholds;
  const double* other = sums + thresholds + 1;
  const double positives = std::accumulate(sums, sums + thresholds + 1, 0.0);
  const double negatives = std::accumulate(other, other + thresholds + 1, 0.0);
  double best = 0.0, tp = 0.0, fp = 0.0;
  for (int64_t i = thresholds - 1; i >= 0; --i) {
    tp += sums[i];
    fp += other[i];
    const double recall = Divide(tp, positives);
    const double precision = Divide(tp, tp + fp);
    const double specificity = Divide(negatives - fp, negatives);
    const auto try_one = [&](double value, double held) {
      // Keras computes what it compares in float32.
      if (static_cast<float>(held) >= static_cast<float>(metric.bound)) {
        best = std::max(best, value);
      }
    };
    switch (metric.kind) {
      case MetricKind::kPrecisionAtRecall:
        try_one(precision, recall);
        break;
      case MetricKind::kRecallAtPrecision:
        try_one(recall, precision);
        break;
      case MetricKind::kSensitivityAtSpecificity:
        try_one(recall, specificity);
        break;
      default:
        try_one(specificity, recall);
        break;
    }
  }
  return best;
}

// keras.metrics.FBetaScore
double FBeta(const MetricParams& metric, const double* sums, int64_t width) {
  const int64_t classes = metric.average == FAverage::kMicro ? 1 : width;
  const double square = metric.beta * metric.beta;
  double sum = 0.0, weights = 0.0;
  for (int64_t j = 0; j < classes; ++j) {
    const double* counts = sums + j * kCounts;
    const double precision = counts[kTp] / (counts[kTp] + counts[kFp] + kEpsilon);
    const double recall = counts[kTp] / (counts[kTp] + counts[kFn] + kEpsilon);
    const double score =
        (1.0 + square) * (precision * recall / (square * precision + recall + kEpsilon));
    const double weight = metric.average == FAverage::kWeighted ? counts[kTp] + counts[kFn] : 1.0;
    sum += weight * score;
    weights += weight;
  }
  return metric.average == FAverage::kWeighted ? sum / (weights + kEpsilon) : sum / weights;
}

double R2(const MetricParams& metric, const double* sums, int64_t width) {
  const double n = sums[3 * width];
  double sum = 0.0, weights = 0.0;
  for (int64_t j = 0; j < width; ++j) {
    const double total = sums[3 * j + 1] - sums[3 * j] * (sums[3 * j] / n);
    const double score = 1.0 - sums[3 * j + 2] / total;
    const double weight = metric.aggregation == R2Aggregation::kUniform ? 1.0 : total;
    sum += std::isinf(score) ? 0.0 : weight * score;
    weights += weight;
  }
  const double score = sum / weights;
  // Adjusted where there are more samples than regressors; Keras counts outputs as samples.
  const double samples = n * static_cast<double>(width);
  const double freedom = samples - static_cast<double>(metric.num_regressors) - 1.0;
  if (metric.num_regressors == 0 || freedom <= 0.0) return score;
  return 1.0 - (1.0 - score) * (samples - 1.0) / freedom;
}

}  // namespace

double MetricValue(const MetricParams& metric, const double* sums, int64_t examples,
                   int64_t width) {
  switch (metric.kind) {
    case MetricKind::kTruePositives:
    case MetricKind::kTrueNegatives:
    case MetricKind::kFalsePositives:
    case MetricKind::kFalseNegatives:
      return sums[0];
    case MetricKind::kPrecision:
      return Divide(sums[kTp], sums[kTp] + sums[kFp]);
    case MetricKind::kRecall:
      return Divide(sums[kTp], sums[kTp] + sums[kFn]);
    case MetricKind::kAuc:
      return Auc(metric, sums);
    case MetricKind::kFBetaScore:
      return FBeta(metric, sums, width);
    case MetricKind::kR2Score:
      return R2(metric, sums, width);
    case MetricKind::kIoU:
      return IoU(metric, sums, ClassCount(width));
    case MetricKind::kBinaryIoU:
      return IoU(metric, sums, 2);
    case MetricKind::kPrecisionAtRecall:
    case MetricKind::kRecallAtPrecision:
    case MetricKind::kSensitivityAtSpecificity:
    case MetricKind::kSpecificityAtSensitivity:
      return Constrained(metric, sums);
    case MetricKind::kConfusionMatrix:  // all of its sums are
      return 0.0;
    case MetricKind::kRootMeanSquaredError:
      return std::sqrt(sums[0] / static_cast<double>(std::max<int64_t>(examples, 1)));
    default:
      return sums[0] / static_cast<double>(std::max<int64_t>(examples, 1));
  }
}

}  // namespace hopper
