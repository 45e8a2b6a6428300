// One step of an array: the examples of a batch, forward, backward, update. All of it happens on
// the device, so that it can be recorded.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <utility>

#include "autograd/lane_array.h"
#include "autograd/lane_metrics.h"
#include "autograd/tensor_objective.h"
#include "autograd/tensor_rows.h"
#include "model/batch_sizes.h"
#include "model/network/fold_lanes.h"
#include "model/network/lanes.h"
#include "train/sums.h"

namespace hopper {
namespace {

// Losses of all examples of all lanes, [lanes * n].
at::Tensor LaneLosses(const Objective& objective, const at::Tensor& output,
                      const TensorTargets& targets, int64_t lanes) {
  const auto losses = [&](const at::Tensor& of, const TensorTargets& to) {
    return LossPerExample(objective, of, to);
  };
  if (lanes == 1 || !LooksAtBatch(objective)) return losses(output, targets);
  return ByLane(output, targets, lanes, losses);
}

// As PenaltySum() of train/sums.h.
at::Tensor PenaltySumTensor(const at::Tensor& penalty, int64_t n) {
  return penalty.to(at::kFloat).to(at::kDouble) * static_cast<double>(n);
}

}  // namespace

at::Tensor LaneArray::Input(const LaneData& data, const at::Tensor& rows) const {
  // [lanes or 1, n] -> [lanes or 1, n, input shape...]
  const at::Tensor x = data.Features(rows.reshape({-1}));
  std::vector<int64_t> sizes = rows.sizes().vec();
  const Shape& shape = network_.spec().input_shape();
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return (bf16_ ? x.to(at::kBFloat16) : x).view(sizes);
}

// Of [lanes * n] examples.
TensorTargets LaneArray::TargetsOf(const LaneData& data, const at::Tensor& rows) const {
  TensorTargets targets;
  targets.num_classes = data.desc().num_classes;
  const at::Tensor labels = data.Labels(rows.reshape({-1}));
  if (data.desc().y_kind == LabelKind::kClass) {
    targets.classes = labels;
    return targets;
  }
  const Shape& wanted = network_.spec().output_shape();
  const std::vector<int64_t>& own = data.desc().y_shape;
  const bool fits = ElementCount(wanted) == data.desc().y_elements();
  targets.values = labels.reshape(WithBatch(labels.size(0), fits ? wanted : own));
  return targets;
}

// The weight of each example by its class, as Stepper::WeightOf().
at::Tensor LaneArray::ClassWeights(const LaneData& data, const TensorTargets& targets) const {
  at::Tensor classes = targets.classes;
  if (!classes.defined()) {
    const at::Tensor rows = targets.values.flatten(1);
    classes = data.desc().y_elements() == 1 ? targets.values.flatten().to(at::kLong)
                                            : at::argmax(rows, 1);
  }
  const int64_t last = class_weights_.size(0) - 1;
  const at::Tensor outside = at::lt(classes, 0).logical_or(classes.ge(last));
  return at::index_select(class_weights_, 0,
                          at::where(outside, at::full({1}, last, classes.options()), classes));
}

at::Tensor LaneArray::MetricSumsOfLanes(const MetricParams& metric, size_t p,
                                        const at::Tensor& output, const TensorTargets& targets,
                                        const at::Tensor& weights) const {
  const ObjectivePart& part = objective_.parts[p];
  at::Tensor own = PartOutput(objective_, p, output);
  if (part.bounds && !metric.of_loss) {
    own = at::clamp(own, part.bounds->least, part.bounds->largest);
  }
  const TensorTargets labels = PartTargets(objective_, p, targets);
  if (metric.of_loss && part.by_row()) {
    at::Tensor losses =
        ByLane(output, targets, lanes_, [&](const at::Tensor& of, const TensorTargets& to) {
          return PartLossPerExample(objective_, p, of, to);
        });
    if (weights.defined()) losses = at::mul(losses, weights);
    return at::sum(losses.reshape({lanes_, -1}), {1}, true, at::kDouble);
  }
  if (!metric.by_row) {
    return LaneMetricSums(metric, own, part.logits, part.last, labels, weights, lanes_);
  }
  const at::Tensor mask = PartMask(objective_, p, output);
  const TensorRows rows = RowsOfPart(part, own, labels, mask, /*ignores=*/false);
  at::Tensor counts = rows.counts.to(at::kFloat);
  if (metric.weighted && weights.defined()) {
    counts = at::mul(counts, at::repeat_interleave(weights, part.rows(), 0));
  }
  return LaneMetricSums(metric, rows.output, part.logits, part.last, rows.targets, counts, lanes_);
}

void LaneArray::AddMetrics(const at::Tensor& output, const TensorTargets& targets) {
  const at::Tensor weights = ExampleWeights(objective_, targets);
  int64_t column = 0;
  for (const MetricParams& metric : compile_.metrics) {
    const auto p = static_cast<size_t>(metric.part);
    const at::Tensor sums = MetricSumsOfLanes(metric, p, output, targets, weights);
    metric_sums_.narrow(1, column, sums.size(1)).add_(sums);
    column += sums.size(1);
  }
}

void LaneArray::CollectGradients() {
  const at::NoGradGuard no_grad;
  for (const size_t i : trainable_) {
    at::Tensor& gradient = weights_[i].mutable_grad();
    if (gradient.defined()) {
      gradient_views_[i].copy_(gradient);
    } else {
      gradient_views_[i].zero_();
    }
    gradient.reset();
  }
}

void LaneArray::UpdateWeights() {
  LaneUpdate update;
  update.lanes = lanes_;
  update.n_spans = static_cast<int32_t>(host_spans_.size());
  update.n_slots = n_slots_;
  update.clips = clips_ ? 1 : 0;
  update.by_norms = by_norms_ ? 1 : 0;
  update.flat_size = network_.spec().flat_size;
  update.slot_size = network_.spec().slot_size;
  update.spans = static_cast<const LaneSpan*>(spans_.const_data_ptr());
  update.rules = static_cast<const LaneRule*>(rules_.const_data_ptr());
  update.table = static_cast<const LaneScalars*>(table_.const_data_ptr());
  update.row = tick_.const_data_ptr<int64_t>();
  update.n_rates = static_cast<int32_t>(lr_factors_.size());
  update.params = params_.mutable_data_ptr<float>();
  update.gradients = gradients_.mutable_data_ptr<float>();
  update.slots = slots_.mutable_data_ptr<float>();
  if (bf16_) update.shadow = static_cast<uint16_t*>(shadow_.mutable_data_ptr());
  update.squares = squares_.mutable_data_ptr<double>();
  device_->Update(update);
  Constrain();
}

// As Constraint::Apply().
void LaneArray::Constrain() {
  const ModelSpec& spec = network_.spec();
  std::vector<at::Tensor> masters, shadows;
  for (const size_t i : trainable_) {
    const ConstraintSpec& constraint = spec.weights[i].constraint;
    if (constraint.kind == ConstraintKind::kNone) continue;
    const at::NoGradGuard no_grad;
    if (masters.empty()) {
      masters = network_.BindWeights(params_);
      if (bf16_) shadows = network_.BindWeights(shadow_);
    }
    at::Tensor& w = masters[i];
    if (constraint.kind == ConstraintKind::kNonNeg) {
      w.clamp_min_(0.0);
    } else {
      std::vector<int64_t> axes;
      for (const int64_t axis : constraint.axes) axes.push_back(axis < 0 ? axis : axis + 1);
      // Over no axes a norm is of one element; libtorch takes none for all.
      const at::Tensor squares = axes.empty() ? w * w : at::sum(w * w, axes, /*keepdim=*/true);
      const at::Tensor norms = at::sqrt(squares);
      at::Tensor wanted = at::ones_like(norms);
      if (constraint.kind != ConstraintKind::kUnitNorm) {
        wanted = norms.clamp(constraint.min, constraint.max) * constraint.rate +
                 norms * (1.0 - constraint.rate);
      }
      w.mul_(wanted / (norms + static_cast<double>(kNormEpsilon)));
    }
    if (bf16_) shadows[i].copy_(w);
  }
}

at::Tensor LaneArray::Penalty(const at::Tensor& params) const {
  at::Tensor penalty;
  for (const TrainableSpan& span : regularized_) {
    const at::Tensor w = params.narrow(1, span.offset, span.size);
    for (const auto& [factor, values] :
         {std::make_pair(span.l1, span.l1 != 0.0 ? at::abs(w) : at::Tensor()),
          std::make_pair(span.l2, span.l2 != 0.0 ? w * w : at::Tensor())}) {
      if (!values.defined()) continue;
      const at::Tensor term = at::sum(values, {1}, false, at::kDouble) * factor;
      penalty = penalty.defined() ? penalty + term : term;
    }
  }
  return penalty;
}

void LaneArray::TrainStep(const LaneData& data, int64_t n, bool metrics) {
  const at::AutoGradMode with_gradients(true);
  const at::Tensor columns = at::add(range_.narrow(0, 0, n), cursor_);
  const at::Tensor rows = at::index_select(order_, 1, columns);  // [lanes, n]
  const TensorTargets targets = TargetsOf(data, rows);
  LaneContext context;
  context.training = true;
  context.linear = objective_.linear;
  context.random = random_.get();
  context.queues = device_->queues();
  std::vector<at::Tensor> penalties;
  context.penalties = &penalties;
  const at::Tensor output =
      FoldLanes(network_.Forward(Input(data, rows), weights_, context)).to(at::kFloat);
  const at::Tensor losses = LaneLosses(training_objective_, output, targets, lanes_);
  {
    const at::NoGradGuard no_grad;
    at::Tensor weighted = losses.detach();
    if (class_weights_.defined()) weighted = at::mul(weighted, ClassWeights(data, targets));
    at::Tensor sums = at::sum(weighted.reshape({lanes_, n}), {1}, false, at::kDouble);
    if (!regularized_.empty()) penalties.push_back(PenaltySumTensor(Penalty(params_), n));
    for (const at::Tensor& penalty : penalties) sums = sums + penalty;
    loss_sums_.add_(sums);
    const at::Tensor fails = at::isfinite(sums).logical_not().logical_and(at::lt(failed_at_, 0));
    failed_at_.copy_(at::where(fails, taken_, failed_at_));
    if (metrics) AddMetrics(output.detach(), targets);
  }
  if (losses.requires_grad()) {
    at::Tensor factors = at::full({lanes_ * n}, 1.0F / static_cast<float>(n), On(at::kFloat));
    if (class_weights_.defined()) factors = at::mul(ClassWeights(data, targets), factors);
    losses.backward(factors);
    CollectGradients();
    UpdateWeights();
  }
  const at::NoGradGuard no_grad;
  steps_.add_(1);
  taken_.add_(1);
  tick_.add_(1);
  cursor_.add_(n);
}

void LaneArray::EvaluateStep(const LaneData& data, int64_t n) {
  const at::NoGradGuard no_grad;
  const at::Tensor rows = at::add(range_.narrow(0, 0, n), cursor_).unsqueeze(0);
  // All lanes see the same examples.
  at::Tensor input = Input(data, rows);
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes[0] = lanes_;
  input = input.expand(sizes);
  TensorTargets targets = TargetsOf(data, rows);
  const auto repeat = [&](const at::Tensor& x) {
    std::vector<int64_t> times(static_cast<size_t>(x.dim()), 1);
    times[0] = lanes_;
    return x.repeat(times);
  };
  if (targets.classes.defined()) targets.classes = repeat(targets.classes);
  if (targets.values.defined()) targets.values = repeat(targets.values);
  LaneContext context;
  context.linear = objective_.linear;
  context.queues = device_->queues();
  std::vector<at::Tensor> penalties;
  context.penalties = &penalties;
  std::vector<at::Tensor> weights = network_.BindWeights(evaluated_);
  for (size_t i = 0; bf16_ && i < weights.size(); ++i) {
    weights[i] = weights[i].to(weights_[i].scalar_type());
  }
  const at::Tensor output = FoldLanes(network_.Forward(input, weights, context)).to(at::kFloat);
  const at::Tensor losses = LaneLosses(objective_, output, targets, lanes_);
  loss_sums_.add_(at::sum(losses.reshape({lanes_, n}), {1}, false, at::kDouble));
  if (!regularized_.empty()) penalties.push_back(PenaltySumTensor(Penalty(evaluated_), n));
  for (const at::Tensor& penalty : penalties) loss_sums_.add_(penalty);
  AddMetrics(output, targets);
  cursor_.add_(n);
}

}  // namespace hopper
