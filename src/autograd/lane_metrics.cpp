#include "autograd/lane_metrics.h"

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
#include <type_traits>
#include <vector>

#include "autograd/tensor_metrics.h"
#include "loss/objective.h"
#include "metrics/rows/table.h"

namespace hopper {
namespace {

// What a metric of the table is called with that sums something else than values of examples, and
// what it makes its sums of, float64 [lanes, sums]: see params/metric_type.h.
struct LaneCall {
  const MetricParams& metric;
  const at::Tensor outputs;  // [lanes, rows, width]
  const at::Tensor labels;   // the same

  int64_t width() const { return outputs.size(2); }
  // The column of one class, where the metric names one.
  at::Tensor OfClass(const at::Tensor& rows) const {
    return metric.class_id ? rows.narrow(2, *metric.class_id, 1) : rows;
  }
  // True for the k largest outputs of each row.
  at::Tensor Largest(int64_t k) const {
    const at::Tensor order = at::argsort(outputs, /*stable=*/true, 2, /*descending=*/true);
    return at::zeros_like(outputs, at::kBool)
        .scatter_(2, order.narrow(2, 0, std::min(k, width())), true);
  }
  // How many are true.
  at::Tensor Count(const at::Tensor& truths) const {
    return at::sum(truths.flatten(1), {1}, false, at::kDouble);
  }
  // How often each place occurs in the rows of `index`. Whole numbers: any order of adding them is
  // exact.
  at::Tensor Histogram(const at::Tensor& index, int64_t count) const {
    at::Tensor sums = at::zeros({index.size(0), count}, index.options().dtype(at::kDouble));
    return sums.scatter_add_(1, index, at::full({1, 1}, 1.0, sums.options()).expand_as(index));
  }
  // The sums, and behind them how many rows a lane has.
  at::Tensor ThenRows(const at::Tensor& sums) const {
    const auto rows = static_cast<double>(outputs.size(1));
    return at::cat({sums, at::full({sums.size(0), 1}, rows, sums.options())}, 1);
  }
  // A number of the type of `like`.
  at::Tensor Number(const at::Scalar& value, const at::Tensor& like) const {
    return at::full({1}, value, like.options());
  }
  at::Tensor Doubles(const at::Tensor& x) const { return x.to(at::kDouble); }
  at::Tensor Longs(const at::Tensor& x) const { return x.to(at::kLong); }
  at::Tensor Stack(at::TensorList x, int64_t axis) const { return at::stack(x, axis); }
};

using LaneFunction = at::Tensor (*)(const LaneCall& call);

template <typename M>
constexpr LaneFunction LanesOf() {
  if constexpr (std::is_base_of_v<metric_rows::OfExamples, M>) {
    return nullptr;
  } else {
    return [](const LaneCall& call) -> at::Tensor { return M::Lanes(call); };
  }
}

template <typename... M>
LaneFunction LaneFunctionOf(MetricList<M...> /*metrics*/, int place) {
  static constexpr LaneFunction kFunctions[] = {LanesOf<M>()...};
  return kFunctions[place];
}

}  // namespace

at::Tensor ByLane(const at::Tensor& output, const TensorTargets& targets, int64_t lanes,
                  const std::function<at::Tensor(const at::Tensor&, const TensorTargets&)>& of) {
  std::vector<at::Tensor> parts;
  const int64_t n = output.size(0) / lanes;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    TensorTargets own = targets;
    if (own.classes.defined()) own.classes = own.classes.narrow(0, lane * n, n);
    if (own.values.defined()) own.values = own.values.narrow(0, lane * n, n);
    parts.push_back(of(output.narrow(0, lane * n, n), own));
  }
  return at::cat(parts);
}

at::Tensor LaneMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last, const TensorTargets& targets, const at::Tensor& weights,
                          int64_t lanes) {
  if (metric.type->of_examples()) {
    const auto values = [&](const at::Tensor& of, const TensorTargets& to) {
      return MetricPerExample(metric, of, logits, last, to);
    };
    // Of a metric that is no loss it is mse, which looks at no batch.
    const bool apart = LooksAtBatch(metric.loss, metric.loss_options);
    at::Tensor all = apart ? ByLane(output, targets, lanes, values) : values(output, targets);
    const bool weighs = weights.defined() && (metric.weighted || metric.of_loss || metric.by_row);
    if (weighs) all = at::mul(all, weights);
    const at::Tensor sum = at::sum(all.reshape({lanes, -1}), {1}, true, at::kDouble);
    if (!metric.weighted && !metric.by_row) return sum;
    const at::Tensor own = weights.defined() ? weights : at::full_like(all, 1.0);
    return at::cat({sum, at::sum(own.reshape({lanes, -1}), {1}, true, at::kDouble)}, 1);
  }
  const at::Tensor outputs = CountedOutputs(metric, output, logits, last);
  const at::Tensor rows = outputs.reshape({lanes, -1, outputs.size(-1)});
  return LaneFunctionOf(Metrics(), metric.type->place)(
      {metric, rows, TargetValues(targets, outputs).reshape(rows.sizes())});
}

}  // namespace hopper
