#include "metrics/accumulate.h"

#include <ATen/ops/mul.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "metrics/largest.h"
#include "metrics/metric_sums.h"
#include "metrics/metrics.h"

namespace hopper {
namespace {

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

// The columns that count: one class, or all.
struct Columns {
  Columns(const MetricParams& metric, int64_t width)
      : first(metric.class_id.value_or(0)), last(metric.class_id ? first + 1 : width) {}
  int64_t first;
  int64_t last;
};

// True for the k largest of a row, the first of equal ones; NaN is above all numbers.
void MarkLargest(const float* row, int64_t width, int64_t k, std::vector<char>* marks) {
  std::vector<int64_t> order(static_cast<size_t>(width));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [row](int64_t a, int64_t b) {
    const bool number = row[b] == row[b];
    return row[a] > row[b] || (row[a] != row[a] && number);
  });
  marks->assign(static_cast<size_t>(width), 0);
  for (int64_t i = 0; i < std::min(k, width); ++i) (*marks)[static_cast<size_t>(order[i])] = 1;
}

void AddConfusion(const MetricParams& metric, const Rows& rows, double* sums) {
  const float threshold = static_cast<float>(metric.threshold.value_or(0.5));
  const bool any_value = metric.top_k && !metric.threshold;
  const Columns columns(metric, rows.width);
  std::vector<char> largest(static_cast<size_t>(rows.width), 1);
  for (int64_t i = 0; i < rows.n; ++i) {
    const float* p = rows.p + i * rows.width;
    if (metric.top_k) MarkLargest(p, rows.width, *metric.top_k, &largest);
    for (int64_t j = columns.first; j < columns.last; ++j) {
      const bool wanted = rows.y[i * rows.width + j] != 0.0F;
      // What is NaN is above nothing.
      const bool above = any_value ? p[j] == p[j] : p[j] > threshold;
      const bool predicted = largest[static_cast<size_t>(j)] && above;
      sums[kTp] += wanted && predicted;
      sums[kFp] += !wanted && predicted;
      sums[kFn] += wanted && !predicted;
      sums[kTn] += !wanted && !predicted;
    }
  }
}

// keras.metrics.AUC and the metrics of one at a bound of the other: buckets between evenly spaced
// thresholds. Sums: the positives of each bucket, then the negatives. What is above no threshold is
// in a bucket of its own behind the others: NaN, and 0 where the first threshold is 0 itself.
void AddBuckets(const MetricParams& metric, const Rows& rows, double* sums) {
  const int64_t thresholds = metric.num_thresholds;
  const int64_t of_zero = metric.type->summed == Summed::kBucketsAndZero ? thresholds : 0;
  const Columns columns(metric, rows.width);
  for (int64_t i = 0; i < rows.n; ++i) {
    for (int64_t j = columns.first; j < columns.last; ++j) {
      const float p = std::clamp(rows.p[i * rows.width + j], 0.0F, 1.0F);
      const float at = std::ceil(p * static_cast<float>(thresholds - 1)) - 1.0F;
      const int64_t bucket = at >= 0.0F       ? static_cast<int64_t>(at)
                             : std::isnan(at) ? thresholds
                                              : of_zero;
      const bool wanted = rows.y[i * rows.width + j] != 0.0F;
      sums[(wanted ? 0 : thresholds + 1) + bucket] += 1.0;
    }
  }
}

void AddClassConfusion(const MetricParams& metric, const Rows& rows, double* sums) {
  for (int64_t i = 0; i < rows.n; ++i) {
    const float* p = rows.p + i * rows.width;
    const float* y = rows.y + i * rows.width;
    const bool largest = !metric.threshold && rows.width > 1;
    const float threshold = largest ? p[LargestPlace(p, rows.width)]
                                    : static_cast<float>(metric.threshold.value_or(0.5));
    for (int64_t j = 0; j < rows.width; ++j) {
      const bool predicted =
          largest ? p[j] >= threshold && std::abs(p[j]) > 1e-9F : p[j] > threshold;
      double* counts = sums + (metric.average == FAverage::kMicro ? 0 : j * kClassCounts);
      const auto wanted = static_cast<double>(y[j]);
      counts[kTp] += predicted ? wanted : 0.0;
      counts[kFp] += predicted ? 1.0 - wanted : 0.0;
      counts[kFn] += predicted ? 0.0 : wanted;
    }
  }
}

// Sums of each output: y, y^2, (y - p)^2; then the rows.
void AddMoments(const Rows& rows, double* sums) {
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
int64_t ClassOf(const float* row, int64_t width, float threshold = 0.5F) {
  if (width == 1) return row[0] > threshold ? 1 : 0;
  return LargestPlace(row, width);
}

// Sums: examples (positions) by label and prediction, a row a label. Labels are one-hot rows or,
// for a single output, 0 and 1.
void AddClassMatrix(const MetricParams& metric, const Rows& rows, double* sums) {
  const auto threshold = static_cast<float>(metric.threshold.value_or(0.5));
  const int64_t classes = ClassCount(rows.width);
  for (int64_t i = 0; i < rows.n; ++i) {
    const int64_t wanted = ClassOf(rows.y + i * rows.width, rows.width);
    sums[wanted * classes + ClassOf(rows.p + i * rows.width, rows.width, threshold)] += 1.0;
  }
}

// Sums: elements by label (0 or 1) and prediction. Other labels do not count.
void AddBinaryMatrix(const MetricParams& metric, const Rows& rows, double* sums) {
  const float threshold = static_cast<float>(metric.threshold.value_or(0.5));
  for (int64_t i = 0; i < rows.n * rows.width; ++i) {
    const float y = std::trunc(rows.y[i]);
    if (y != 0.0F && y != 1.0F) continue;
    sums[(y == 1.0F ? 2 : 0) + (rows.p[i] >= threshold ? 1 : 0)] += 1.0;
  }
}

}  // namespace

double SumOf(const at::Tensor& values) {
  const at::Tensor dense = values.contiguous();
  const float* data = dense.data_ptr<float>();
  double sum = 0.0;
  for (int64_t i = 0; i < dense.numel(); ++i) sum += static_cast<double>(data[i]);
  return sum;
}

void AddMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                   Activation last, const Targets& targets, double* sums,
                   const at::Tensor& weights) {
  if (metric.type->summed == Summed::kExamples) {
    at::Tensor values = MetricPerExample(metric, output, logits, last, targets);
    const bool weighs = weights.defined() && (metric.weighted || metric.of_loss);
    if (weighs) values = at::mul(values, weights);
    sums[0] += SumOf(values);
    if (metric.weighted) {
      sums[1] += weighs ? SumOf(weights) : static_cast<double>(values.numel());
    }
    return;
  }
  const Rows rows(CountedOutputs(metric, output, logits, last), targets);
  switch (metric.type->summed) {
    case Summed::kExamples:
      return;
    case Summed::kConfusion:
      return AddConfusion(metric, rows, sums);
    case Summed::kClassConfusion:
      return AddClassConfusion(metric, rows, sums);
    case Summed::kBuckets:
    case Summed::kBucketsAndZero:
      return AddBuckets(metric, rows, sums);
    case Summed::kMoments:
      return AddMoments(rows, sums);
    case Summed::kClassMatrix:
      return AddClassMatrix(metric, rows, sums);
    case Summed::kBinaryMatrix:
      return AddBinaryMatrix(metric, rows, sums);
  }
}

}  // namespace hopper
