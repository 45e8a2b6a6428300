// Keras' metrics (keras.metrics.*) that are means over examples, as tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "autograd/tensor_loss.h"
#include "params/metric_type.h"

namespace hopper {

// What the model puts out: the activation `last` over its logits, where it was left out.
at::Tensor Probabilities(const at::Tensor& output, bool logits, Activation last);

// What a metric counts that is none of single examples: that, or what AUC(from_logits=True) makes
// of it.
at::Tensor CountedOutputs(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last);

// Value of each example, float32 [batch], of a metric that sums such. `output` is the model's
// output (probabilities) or, with `logits`, its logits: ranks are then taken on the logits, while
// mse and mae apply the activation `last` first.
at::Tensor MetricPerExample(const MetricParams& metric, const at::Tensor& output, bool logits,
                            Activation last, const TensorTargets& targets);

}  // namespace hopper
