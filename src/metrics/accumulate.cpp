#include "metrics/accumulate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "metrics/metrics.h"

namespace hopper {
namespace {

// keras.metrics.AUC: buckets between evenly spaced thresholds.
constexpr int64_t kThresholds = 200;
constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

constexpr int64_t kTp = 0, kFp = 1, kFn = 2, kCounts = 3;

double Divide(double a, double b) { return b == 0.0 ? 0.0 : a / b; }

double SumOf(const at::Tensor& values) {
  const at::Tensor dense = values.contiguous();
  const float* data = dense.data_ptr<float>();
  double sum = 0.0;
  for (int64_t i = 0; i < dense.numel(); ++i) sum += static_cast<double>(data[i]);
  return sum;
}

// Outputs and targets as rows of `width` numbers.
struct Rows {
  Rows(const at::Tensor& output, const Targets& targets)
      : p_tensor(output.contiguous()),
        y_tensor(TargetValues(targets, output).contiguous()),
        p(p_tensor.data_ptr<float>()),
        y(y_tensor.data_ptr<float>()),
        width(output.size(-1)),
        n(output.numel() / std::max<int64_t>(output.size(-1), 1)) {}

  at::Tensor p_tensor;
  at::Tensor y_tensor;
  const float* p;
  const float* y;
  int64_t width;
  int64_t n;
};

void AddConfusion(const MetricParams& metric, const Rows& rows, double* sums) {
  const float threshold = static_cast<float>(metric.threshold.value_or(0.5));
  for (int64_t i = 0; i < rows.n * rows.width; ++i) {
    const bool wanted = rows.y[i] != 0.0F;
    const bool predicted = rows.p[i] > threshold;
    switch (metric.kind) {
      case MetricKind::kTrueNegatives:
        sums[0] += !wanted && !predicted;
        break;
      case MetricKind::kTruePositives:
        sums[0] += wanted && predicted;
        break;
      case MetricKind::kFalsePositives:
        sums[0] += !wanted && predicted;
        break;
      case MetricKind::kFalseNegatives:
        sums[0] += wanted && !predicted;
        break;
      default:  // precision and recall
        sums[kTp] += wanted && predicted;
        sums[kFp] += !wanted && predicted;
        sums[kFn] += wanted && !predicted;
        break;
    }
  }
}

// Sums: the positives of each bucket, then the negatives.
void AddAuc(const Rows& rows, double* sums) {
  for (int64_t i = 0; i < rows.n * rows.width; ++i) {
    const float p = std::clamp(rows.p[i], 0.0F, 1.0F);
    const float at = std::ceil(p * static_cast<float>(kThresholds - 1)) - 1.0F;
    // NaN, which clamp() lets through, is in the first bucket.
    const int64_t bucket = at > 0.0F ? static_cast<int64_t>(at) : 0;
    sums[(rows.y[i] != 0.0F ? 0 : kThresholds) + bucket] += 1.0;
  }
}

void AddF1(const MetricParams& metric, const Rows& rows, double* sums) {
  for (int64_t i = 0; i < rows.n; ++i) {
    const float* p = rows.p + i * rows.width;
    const float* y = rows.y + i * rows.width;
    const bool largest = !metric.threshold && rows.width > 1;
    const float threshold = largest ? *std::max_element(p, p + rows.width)
                                    : static_cast<float>(metric.threshold.value_or(0.5));
    for (int64_t j = 0; j < rows.width; ++j) {
      const bool predicted =
          largest ? p[j] >= threshold && std::abs(p[j]) > 1e-9F : p[j] > threshold;
      double* counts = sums + (metric.average == F1Average::kMicro ? 0 : j * kCounts);
      const auto wanted = static_cast<double>(y[j]);
      counts[kTp] += predicted ? wanted : 0.0;
      counts[kFp] += predicted ? 1.0 - wanted : 0.0;
      counts[kFn] += predicted ? 0.0 : wanted;
    }
  }
}

// Sums of each output: y, y^2, (y - p)^2; then the rows.
void AddR2(const Rows& rows, double* sums) {
  for (int64_t i = 0; i < rows.n; ++i) {
    for (int64_t j = 0; j < rows.width; ++j) {
      const auto y = static_cast<double>(rows.y[i * rows.width + j]);
      const double error = y - static_cast<double>(rows.p[i * rows.width + j]);
      sums[3 * j] += y;
      sums[3 * j + 1] += y * y;
      sums[3 * j + 2] += error * error;
    }
  }
  sums[3 * rows.width] += static_cast<double>(rows.n);
}

// The predicted class of a row of outputs, or of a single one; the first of equal ones.
int64_t ClassOf(const float* row, int64_t width) {
  if (width == 1) return row[0] > 0.5F ? 1 : 0;
  return std::max_element(row, row + width) - row;
}

int64_t ClassCount(int64_t width) { return width == 1 ? 2 : width; }

// Sums: examples (positions) by label and prediction, a row a label. Labels are one-hot rows or,
// for a single output, 0 and 1.
void AddMatrix(const Rows& rows, double* sums) {
  const int64_t classes = ClassCount(rows.width);
  for (int64_t i = 0; i < rows.n; ++i) {
    const int64_t wanted = ClassOf(rows.y + i * rows.width, rows.width);
    sums[wanted * classes + ClassOf(rows.p + i * rows.width, rows.width)] += 1.0;
  }
}

// Classes that neither labels nor predictions have are left out of the mean.
double MeanIoU(const double* sums, int64_t classes) {
  double sum = 0.0, present = 0.0;
  for (int64_t i = 0; i < classes; ++i) {
    double labels = 0.0, predictions = 0.0;
    for (int64_t j = 0; j < classes; ++j) {
      labels += sums[i * classes + j];
      predictions += sums[j * classes + i];
    }
    const double hits = sums[i * classes + i];
    const double all = labels + predictions - hits;
    if (all == 0.0) continue;
    sum += hits / (all + kEpsilon);
    present += 1.0;
  }
  return Divide(sum, present);
}

double Auc(const MetricParams& metric, const double* sums) {
  // Positives and negatives above each threshold.
  std::vector<double> tp(kThresholds), fp(kThresholds);
  double positives = 0.0, negatives = 0.0;
  for (int64_t i = kThresholds - 1; i >= 0; --i) {
    tp[static_cast<size_t>(i)] = positives += sums[i];
    fp[static_cast<size_t>(i)] = negatives += sums[kThresholds + i];
  }
  double area = 0.0;
  for (size_t i = 0; i + 1 < static_cast<size_t>(kThresholds); ++i) {
    if (metric.curve == AucCurve::kRoc) {
      const double height = (Divide(tp[i], positives) + Divide(tp[i + 1], positives)) / 2.0;
      area += (Divide(fp[i], negatives) - Divide(fp[i + 1], negatives)) * height;
      continue;
    }
    // Davis and Goadrich's interpolation between two points of the curve.
    const double p = tp[i] + fp[i], next_p = tp[i + 1] + fp[i + 1];
    const double dtp = tp[i] - tp[i + 1];
    const double slope = Divide(dtp, std::max(p - next_p, 0.0));
    const double intercept = tp[i + 1] - slope * next_p;
    const double ratio = p > 0.0 && next_p > 0.0 ? p / next_p : 1.0;
    area += Divide(slope * (dtp + intercept * std::log(ratio)), positives);
  }
  return area;
}

double F1(const MetricParams& metric, const double* sums, int64_t width) {
  const int64_t classes = metric.average == F1Average::kMicro ? 1 : width;
  double sum = 0.0, weights = 0.0;
  for (int64_t j = 0; j < classes; ++j) {
    const double* counts = sums + j * kCounts;
    const double precision = counts[kTp] / (counts[kTp] + counts[kFp] + kEpsilon);
    const double recall = counts[kTp] / (counts[kTp] + counts[kFn] + kEpsilon);
    const double f1 = 2.0 * (precision * recall / (precision + recall + kEpsilon));
    const double weight = metric.average == F1Average::kWeighted ? counts[kTp] + counts[kFn] : 1.0;
    sum += weight * f1;
    weights += weight;
  }
  return metric.average == F1Average::kWeighted ? sum / (weights + kEpsilon) : sum / weights;
}

double R2(const double* sums, int64_t width) {
  const double n = sums[3 * width];
  double sum = 0.0;
  for (int64_t j = 0; j < width; ++j) {
    const double total = sums[3 * j + 1] - sums[3 * j] * (sums[3 * j] / n);
    const double score = 1.0 - sums[3 * j + 2] / total;
    sum += std::isinf(score) ? 0.0 : score;
  }
  return sum / static_cast<double>(width);
}

}  // namespace

int64_t MetricSumCount(const MetricParams& metric, int64_t width) {
  switch (metric.kind) {
    case MetricKind::kAuc:
      return 2 * kThresholds;
    case MetricKind::kPrecision:
    case MetricKind::kRecall:
      return kCounts;
    case MetricKind::kF1Score:
      return metric.average == F1Average::kMicro ? kCounts : kCounts * width;
    case MetricKind::kR2Score:
      return 3 * width + 1;
    case MetricKind::kMeanIoU:
    case MetricKind::kConfusionMatrix:
      return ClassCount(width) * ClassCount(width);
    default:
      return 1;
  }
}

void AddMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                   Activation last, const Targets& targets, double* sums) {
  switch (metric.kind) {
    case MetricKind::kTruePositives:
    case MetricKind::kTrueNegatives:
    case MetricKind::kFalsePositives:
    case MetricKind::kFalseNegatives:
    case MetricKind::kPrecision:
    case MetricKind::kRecall:
      return AddConfusion(metric, Rows(Probabilities(output, logits, last), targets), sums);
    case MetricKind::kAuc:
      return AddAuc(Rows(Probabilities(output, logits, last), targets), sums);
    case MetricKind::kF1Score:
      return AddF1(metric, Rows(Probabilities(output, logits, last), targets), sums);
    case MetricKind::kMeanIoU:
    case MetricKind::kConfusionMatrix:
      return AddMatrix(Rows(Probabilities(output, logits, last), targets), sums);
    case MetricKind::kR2Score:
      return AddR2(Rows(Probabilities(output, logits, last), targets), sums);
    default:
      sums[0] += SumOf(MetricPerExample(metric, output, logits, last, targets));
  }
}

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
    case MetricKind::kF1Score:
      return F1(metric, sums, width);
    case MetricKind::kR2Score:
      return R2(sums, width);
    case MetricKind::kMeanIoU:
      return MeanIoU(sums, ClassCount(width));
    case MetricKind::kConfusionMatrix:  // all of its sums are
      return 0.0;
    case MetricKind::kRootMeanSquaredError:
      return std::sqrt(sums[0] / static_cast<double>(std::max<int64_t>(examples, 1)));
    default:
      return sums[0] / static_cast<double>(std::max<int64_t>(examples, 1));
  }
}

}  // namespace hopper
