#include "autograd/tensor_objective.h"

#include <ATen/ops/add.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/repeat_interleave.h>

#include "autograd/tensor_rows.h"
#include "model/batch_sizes.h"

namespace hopper {
namespace {

// Each member has the labels of its example.
TensorTargets OfMembers(const TensorTargets& targets, int64_t members) {
  TensorTargets repeated = targets;
  for (at::Tensor* labels : {&repeated.classes, &repeated.values}) {
    if (labels->defined()) *labels = at::repeat_interleave(*labels, members, 0);
  }
  return repeated;
}

}  // namespace

at::Tensor PartOutput(const Objective& objective, size_t part, const at::Tensor& output) {
  const ObjectivePart& of = objective.parts[part];
  if (of.size == objective.outputs) return output;
  return output.narrow(1, of.first, of.size).reshape(WithBatch(output.size(0), of.shape));
}

TensorTargets PartTargets(const Objective& objective, size_t part, const TensorTargets& targets) {
  // Labels of one output without weights are as they always were.
  if (objective.plain || targets.classes.defined()) return targets;
  const ObjectivePart& of = objective.parts[part];
  const int64_t batch = targets.values.size(0);
  const at::Tensor own =
      targets.values.reshape({batch, -1}).narrow(1, of.label_first, of.label_size);
  TensorTargets out;
  if (of.classes) {
    out.num_classes = of.num_classes;
    out.classes = own.reshape({batch}).to(at::kLong);
  } else {
    out.values = own.reshape(WithBatch(batch, of.label_shape)).contiguous();
  }
  return out;
}

at::Tensor PartMask(const Objective& objective, size_t part, const at::Tensor& output) {
  const ObjectivePart& of = objective.parts[part];
  if (of.mask_size == 0) return {};
  return output.detach().narrow(1, of.mask_first, of.mask_size);
}

at::Tensor ExampleWeights(const Objective& objective, const TensorTargets& targets) {
  if (!objective.weighted) return {};
  const at::Tensor rows = targets.values.reshape({targets.values.size(0), -1});
  return rows.narrow(1, rows.size(1) - 1, 1).reshape({-1}).contiguous();
}

at::Tensor PartLossPerExample(const Objective& objective, size_t part, const at::Tensor& output,
                              const TensorTargets& targets) {
  const ObjectivePart& of = objective.parts[part];
  const at::Tensor own = PartOutput(objective, part, output);
  const TensorTargets labels = PartTargets(objective, part, targets);
  if (of.by_row()) {
    const at::Tensor mask = PartMask(objective, part, output);
    return LossOfRows(of, RowsOfPart(of, own, labels, mask, /*ignores=*/true), output.size(0));
  }
  if (of.members > 0) {
    const int64_t batch = output.size(0);
    const at::Tensor members = output.narrow(1, of.members_first, of.members * of.size)
                                   .reshape(WithBatch(batch * of.members, of.shape));
    const at::Tensor losses = LossPerExample(of.loss, members, of.member_logits,
                                             OfMembers(labels, of.members), of.options);
    return at::mean(losses.reshape({batch, of.members}), {1});
  }
  return LossPerExample(of.loss, own, of.logits, labels, of.options);
}

at::Tensor LossPerExample(const Objective& objective, const at::Tensor& output,
                          const TensorTargets& targets) {
  at::Tensor sum;
  for (size_t i = 0; i < objective.parts.size(); ++i) {
    const ObjectivePart& part = objective.parts[i];
    at::Tensor loss = PartLossPerExample(objective, i, output, targets);
    if (objective.plain) return loss;
    if (part.weight != 1.0F) loss = at::mul(loss, part.weight);
    sum = sum.defined() ? at::add(sum, loss) : loss;
  }
  const at::Tensor weights = ExampleWeights(objective, targets);
  return weights.defined() ? at::mul(sum, weights) : sum;
}

}  // namespace hopper
