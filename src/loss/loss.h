// Keras' losses (keras.losses.*), one value an example.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/layer_config.h"
#include "params/loss_type.h"
#include "params/params.h"

namespace hopper {

// What a batch is compared with. Exactly one of the two is defined.
struct Targets {
  at::Tensor classes;  // int64 [batch]: class indexes
  at::Tensor values;   // float32 [batch, outputs...]: one-hot, soft labels or numbers
  int64_t num_classes = 0;
};

// The targets with the shape of `output`: class indexes become one-hot rows, or with a single
// output the number itself.
at::Tensor TargetValues(const Targets& targets, const at::Tensor& output);

// True where an example's loss may depend on the whole batch: the hinges ask whether all labels are
// 0 or 1, and Dice and Tversky can sum over all examples, which then share one value.
bool LooksAtBatch(LossKind loss, const LossOptions& options);

// Loss of each example, float32 [batch]; differentiable. `output` is the model's output, or its
// logits when `logits` is true. Element losses are averaged over the last axis, and further axes.
// Formulas: keras.losses on the TensorFlow back end, which renormalizes probabilities (the
// categorical crossentropies) and clips them to [1e-7, 1 - 1e-7].
// With `options.from_logits` the output is taken for logits whatever the model ends in.
at::Tensor LossPerExample(LossKind loss, const at::Tensor& output, bool logits, Activation last,
                          const Targets& targets, const LossOptions& options = {});

}  // namespace hopper
