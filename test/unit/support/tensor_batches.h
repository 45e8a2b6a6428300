// Batches of tensors for what takes raw ones.
#pragma once

#include <ATen/core/Tensor.h>

#include "autograd/autograd_steps.h"
#include "autograd/tensor_loss.h"
#include "kernels/kernels.h"
#include "metrics/metric_sums.h"

namespace hopper {

// Counts the losses that have no loop.
class CountedLosses : public LossBackend {
 public:
  void RunLoss(const LossBatch& batch) const override {
    ++count;
    RunLossByAutograd(batch);
  }
  mutable int count = 0;
};

// Views; the tensors are contiguous.
inline Targets RawTargets(const TensorTargets& targets) {
  Targets raw;
  raw.num_classes = targets.num_classes;
  if (targets.classes.defined()) {
    raw.classes = targets.classes.const_data_ptr<int64_t>();
  } else {
    raw.values = targets.values.const_data_ptr<float>();
    raw.size = targets.values.numel() / targets.values.size(0);
  }
  return raw;
}

inline void AddTensorSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last, const TensorTargets& targets, double* sums,
                          const at::Tensor& weights = {}) {
  const CountedLosses backend;
  const at::Tensor dense = output.contiguous();
  const Shape shape = output.sizes().slice(1).vec();
  TensorTargets labels = targets;
  if (labels.values.defined()) labels.values = labels.values.contiguous();
  if (labels.classes.defined()) labels.classes = labels.classes.contiguous();
  const at::Tensor own = weights.defined() ? weights.contiguous() : weights;
  AddMetricSums(
      metric,
      {dense.const_data_ptr<float>(), output.size(0), shape, logits, last, RawTargets(labels),
       own.defined() ? own.const_data_ptr<float>() : nullptr, KernelsHere(), backend},
      sums);
}

}  // namespace hopper
