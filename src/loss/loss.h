// Keras' losses (keras.losses.*), one value an example.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/layer_config.h"
#include "params/params.h"

namespace hopper {

// What a batch is compared with. Exactly one of the two is defined.
struct Targets {
  at::Tensor classes;  // int64 [batch]: class indexes
  at::Tensor values;   // float32 [batch, outputs...]: one-hot, soft labels or numbers
  int64_t num_classes = 0;
};

// True where the loss is computed from logits when the model ends in `last`, as Keras on
// TensorFlow does: crossentropies after softmax or sigmoid.
bool UsesLogits(LossKind loss, Activation last);

// Loss of each example, float32 [batch]; differentiable. `output` is the model's output, or its
// logits (with `last` then telling softmax from sigmoid) when `logits` is true. Element losses
// are averaged over the last axis, and further axes.
at::Tensor LossPerExample(LossKind loss, const at::Tensor& output, bool logits, Activation last,
                          const Targets& targets);

}  // namespace hopper
