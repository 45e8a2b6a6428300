#include "metrics/lane_metrics.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/square.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

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

at::Tensor Confusion(const MetricParams& metric, const LaneRows& rows) {
  const auto threshold = static_cast<float>(metric.threshold.value_or(0.5));
  const at::Tensor wanted = at::ne(rows.y, 0.0);
  const at::Tensor predicted = at::gt(rows.p, threshold);
  const at::Tensor unwanted = wanted.logical_not();
  const at::Tensor rejected = predicted.logical_not();
  switch (metric.kind) {
    case MetricKind::kTrueNegatives:
      return Count(unwanted.logical_and(rejected)).unsqueeze(1);
    case MetricKind::kTruePositives:
      return Count(wanted.logical_and(predicted)).unsqueeze(1);
    case MetricKind::kFalsePositives:
      return Count(unwanted.logical_and(predicted)).unsqueeze(1);
    case MetricKind::kFalseNegatives:
      return Count(wanted.logical_and(rejected)).unsqueeze(1);
    default:  // precision and recall
      return at::stack(
          {Count(wanted.logical_and(predicted)), Count(unwanted.logical_and(predicted)),
           Count(wanted.logical_and(rejected))},
          1);
  }
}

// The buckets of AddAuc(), positives first. Whole numbers: any order of adding them is exact.
at::Tensor Auc(const LaneRows& rows, int64_t count) {
  const int64_t thresholds = count / 2;
  const at::Tensor p = at::clamp(rows.p.flatten(1), 0.0, 1.0);
  const at::Tensor at = at::sub(at::ceil(at::mul(p, static_cast<double>(thresholds - 1))), 1.0);
  // NaN is not above 0: the first bucket.
  const at::Tensor bucket =
      at::where(at::gt(at, 0.0), at, at::zeros({1}, at.options())).to(at::kLong);
  const at::Tensor index =
      at::where(at::ne(rows.y.flatten(1), 0.0), bucket, at::add(bucket, thresholds));
  at::Tensor sums =
      at::zeros({rows.p.size(0), count}, rows.p.options().dtype(at::kDouble).requires_grad(false));
  return sums.scatter_add_(1, index, at::full({1, 1}, 1.0, sums.options()).expand_as(index));
}

at::Tensor F1(const MetricParams& metric, const LaneRows& rows) {
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
  if (metric.average == F1Average::kMicro) counts = at::sum(counts, {1}, true);
  return counts.flatten(1);
}

at::Tensor R2(const LaneRows& rows) {
  const at::Tensor y = rows.y.to(at::kDouble);
  const at::Tensor error = at::square(at::sub(y, rows.p.to(at::kDouble)));
  const at::Tensor sums = at::sum(at::stack({y, at::square(y), error}, 3), {1}).flatten(1);
  return at::cat(
      {sums, at::full({sums.size(0), 1}, static_cast<double>(rows.p.size(1)), sums.options())}, 1);
}

}  // namespace

at::Tensor LaneMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last, const Targets& targets, int64_t lanes) {
  const auto rows = [&] { return LaneRows(Probabilities(output, logits, last), targets, lanes); };
  switch (metric.kind) {
    case MetricKind::kTruePositives:
    case MetricKind::kTrueNegatives:
    case MetricKind::kFalsePositives:
    case MetricKind::kFalseNegatives:
    case MetricKind::kPrecision:
    case MetricKind::kRecall:
      return Confusion(metric, rows());
    case MetricKind::kAuc:
      return Auc(rows(), MetricSumCount(metric, output.size(-1)));
    case MetricKind::kF1Score:
      return F1(metric, rows());
    case MetricKind::kR2Score:
      return R2(rows());
    default:
      return at::sum(MetricPerExample(metric, output, logits, last, targets).reshape({lanes, -1}),
                     {1}, true, at::kDouble);
  }
}

}  // namespace hopper
