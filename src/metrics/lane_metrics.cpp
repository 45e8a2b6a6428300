#include "metrics/lane_metrics.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/square.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "metrics/metrics.h"

namespace hopper {
namespace {

// [lanes, rows, width]
struct LaneRows {
  LaneRows(const at::Tensor& output, const Targets& targets, int64_t lanes)
      : p(output.reshape({lanes, -1, output.size(-1)})),
        y(TargetValues(targets, output).reshape(p.sizes())) {}

  at::Tensor p;
  at::Tensor y;
};

at::Tensor Count(const at::Tensor& truths) {
  return at::sum(truths.flatten(1), {1}, false, at::kDouble);
}

// The column of one class, where the metric names one.
at::Tensor OfClass(const MetricParams& metric, const at::Tensor& rows) {
  return metric.class_id ? rows.narrow(2, *metric.class_id, 1) : rows;
}

// How often each place occurs in the rows of `index`, float64 [lanes, count]. Whole numbers: any
// order of adding them is exact.
at::Tensor Histogram(const at::Tensor& index, int64_t count) {
  at::Tensor sums = at::zeros({index.size(0), count}, index.options().dtype(at::kDouble));
  return sums.scatter_add_(1, index, at::full({1, 1}, 1.0, sums.options()).expand_as(index));
}

at::Tensor Confusion(const MetricParams& metric, const LaneRows& rows) {
  const auto threshold = static_cast<float>(metric.threshold.value_or(0.5));
  const at::Tensor wanted = at::ne(OfClass(metric, rows.y), 0.0);
  at::Tensor predicted = at::gt(rows.p, threshold);
  if (metric.top_k) {
    const int64_t k = std::min<int64_t>(*metric.top_k, rows.p.size(2));
    const at::Tensor first = at::argsort(rows.p, /*stable=*/true, 2, /*descending=*/true);
    predicted = at::zeros_like(predicted).scatter_(2, first.narrow(2, 0, k), true);
    predicted.logical_and_(metric.threshold ? at::gt(rows.p, threshold) : at::eq(rows.p, rows.p));
  }
  predicted = OfClass(metric, predicted);
  const at::Tensor unwanted = wanted.logical_not();
  const at::Tensor rejected = predicted.logical_not();
  return at::stack({Count(wanted.logical_and(predicted)), Count(unwanted.logical_and(predicted)),
                    Count(wanted.logical_and(rejected)), Count(unwanted.logical_and(rejected))},
                   1);
}

at::Tensor ClassConfusion(const MetricParams& metric, const LaneRows& rows) {
  const bool largest = !metric.threshold && rows.p.size(2) > 1;
  at::Tensor predicted;
  if (largest) {
    predicted =
        at::ge(rows.p, at::amax(rows.p, {2}, true)).logical_and(at::gt(at::abs(rows.p), 1e-9));
  } else {
    predicted = at::gt(rows.p, static_cast<float>(metric.threshold.value_or(0.5)));
  }
  const at::Tensor hit = predicted.to(at::kDouble);
  const at::Tensor y = rows.y.to(at::kDouble);
  const at::Tensor tp = at::mul(hit, y), fp = at::mul(hit, at::rsub(y, 1.0)),
                   fn = at::mul(at::rsub(hit, 1.0), y);
  // Columns tp, fp, fn of each class.
  at::Tensor counts = at::sum(at::stack({tp, fp, fn}, 3), {1});  // [lanes, width, 3]
  if (metric.average == FAverage::kMicro) counts = at::sum(counts, {1}, true);
  return counts.flatten(1);
}

at::Tensor Moments(const LaneRows& rows) {
  const at::Tensor y = rows.y.to(at::kDouble);
  const at::Tensor error = at::square(at::sub(y, rows.p.to(at::kDouble)));
  const at::Tensor sums = at::sum(at::stack({y, at::square(y), error}, 3), {1}).flatten(1);
  return at::cat(
      {sums, at::full({sums.size(0), 1}, static_cast<double>(rows.p.size(1)), sums.options())}, 1);
}

// The buckets of AddBuckets(), positives first.
at::Tensor Buckets(const MetricParams& metric, const LaneRows& rows, int64_t count) {
  const int64_t thresholds = count / 2 - 1;
  const bool zero_apart = metric.type->summed == Summed::kBucketsAndZero;
  const at::Tensor p = at::clamp(OfClass(metric, rows.p).flatten(1), 0.0, 1.0);
  const at::Tensor at = at::sub(at::ceil(at::mul(p, static_cast<double>(thresholds - 1))), 1.0);
  const at::Tensor apart = at::full({1}, static_cast<double>(thresholds), at.options());
  // -1 is 0's; no number is below it, and NaN is no number.
  const at::Tensor bucket =
      at::where(at::ge(at, zero_apart ? 0.0 : -1.0), at::clamp(at, 0.0), apart).to(at::kLong);
  const at::Tensor wanted = at::ne(OfClass(metric, rows.y).flatten(1), 0.0);
  return Histogram(at::where(wanted, bucket, at::add(bucket, thresholds + 1)), count);
}

// The class of each row of numbers: the first of the largest, or above the threshold.
at::Tensor ClassesOf(const at::Tensor& rows, double threshold = 0.5) {
  return rows.size(2) == 1 ? at::gt(rows.squeeze(2), threshold).to(at::kLong) : at::argmax(rows, 2);
}

at::Tensor ClassMatrix(const MetricParams& metric, const LaneRows& rows, int64_t count) {
  const int64_t classes = rows.p.size(2) == 1 ? 2 : rows.p.size(2);
  return Histogram(at::add(at::mul(ClassesOf(rows.y), classes),
                           ClassesOf(rows.p, metric.threshold.value_or(0.5))),
                   count);
}

at::Tensor BinaryMatrix(const MetricParams& metric, const LaneRows& rows, int64_t count) {
  const auto threshold = static_cast<float>(metric.threshold.value_or(0.5));
  const at::Tensor y = rows.y.flatten(1).to(at::kLong);
  const at::Tensor predicted = at::ge(rows.p.flatten(1), threshold).to(at::kLong);
  // Labels that are neither 0 nor 1 go into a place of their own, which is dropped.
  const at::Tensor known = at::ge(y, 0).logical_and(at::lt(y, 2));
  const at::Tensor index =
      at::where(known, at::add(at::mul(y, 2), predicted), at::full({1}, count, y.options()));
  return Histogram(index, count + 1).narrow(1, 0, count);
}

}  // namespace

at::Tensor ByLane(const at::Tensor& output, const Targets& targets, int64_t lanes,
                  const std::function<at::Tensor(const at::Tensor&, const Targets&)>& of) {
  std::vector<at::Tensor> parts;
  const int64_t n = output.size(0) / lanes;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Targets own = targets;
    if (own.classes.defined()) own.classes = own.classes.narrow(0, lane * n, n);
    if (own.values.defined()) own.values = own.values.narrow(0, lane * n, n);
    parts.push_back(of(output.narrow(0, lane * n, n), own));
  }
  return at::cat(parts);
}

at::Tensor LaneMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last, const Targets& targets, const at::Tensor& weights,
                          int64_t lanes) {
  if (metric.type->summed == Summed::kExamples) {
    const auto values = [&](const at::Tensor& of, const Targets& to) {
      return MetricPerExample(metric, of, logits, last, to);
    };
    // Of a metric that is no loss it is mse, which looks at no batch.
    const bool apart = LooksAtBatch(metric.loss, metric.loss_options);
    at::Tensor all = apart ? ByLane(output, targets, lanes, values) : values(output, targets);
    const bool weighs = weights.defined() && (metric.weighted || metric.of_loss);
    if (weighs) all = at::mul(all, weights);
    const at::Tensor sum = at::sum(all.reshape({lanes, -1}), {1}, true, at::kDouble);
    if (!metric.weighted) return sum;
    const at::Tensor own = weights.defined() ? weights : at::full_like(all, 1.0);
    return at::cat({sum, at::sum(own.reshape({lanes, -1}), {1}, true, at::kDouble)}, 1);
  }
  const LaneRows rows(CountedOutputs(metric, output, logits, last), targets, lanes);
  const int64_t count = MetricSumCount(metric, output.size(-1));
  switch (metric.type->summed) {
    case Summed::kExamples:
      break;
    case Summed::kConfusion:
      return Confusion(metric, rows);
    case Summed::kClassConfusion:
      return ClassConfusion(metric, rows);
    case Summed::kBuckets:
    case Summed::kBucketsAndZero:
      return Buckets(metric, rows, count);
    case Summed::kMoments:
      return Moments(rows);
    case Summed::kClassMatrix:
      return ClassMatrix(metric, rows, count);
    case Summed::kBinaryMatrix:
      return BinaryMatrix(metric, rows, count);
  }
  throw Error(ErrorCode::kInternal, "a metric without sums");
}

}  // namespace hopper
