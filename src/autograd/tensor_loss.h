// Keras' losses (keras.losses.*) as tensors, one value an example.
#pragma once

#include <ATen/core/Tensor.h>

#include "loss/targets.h"
#include "params/loss_type.h"
#include "params/params.h"

namespace hopper {

// What a batch is compared with: Targets as tensors. Exactly one of the two is defined.
struct TensorTargets {
  at::Tensor classes;  // int64 [batch]: class indexes
  at::Tensor values;   // float32 [batch, outputs...]: one-hot, soft labels or numbers
  int64_t num_classes = 0;
};

// The targets with the shape of `output`: class indexes become one-hot rows, or with a single
// output the number itself.
at::Tensor TargetValues(const TensorTargets& targets, const at::Tensor& output);

// Views of the labels of a batch.
TensorTargets TensorsOf(const Targets& targets, int64_t batch);

// Loss of each example, float32 [batch]; differentiable. `output` is the model's output, or its
// logits when `logits` is true. Element losses are averaged over the last axis, and further axes.
// Formulas: keras.losses on the TensorFlow back end, which renormalizes probabilities (the
// categorical crossentropies) and clips them to [1e-7, 1 - 1e-7].
// With `options.from_logits` the output is taken for logits whatever the model ends in.
at::Tensor LossPerExample(LossKind loss, const at::Tensor& output, bool logits,
                          const TensorTargets& targets, const LossOptions& options = {});

}  // namespace hopper
