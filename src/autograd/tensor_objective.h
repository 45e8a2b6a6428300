// A model's losses as tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "autograd/tensor_loss.h"
#include "loss/objective.h"

namespace hopper {

// What is a part's of a batch.
at::Tensor PartOutput(const Objective& objective, size_t part, const at::Tensor& output);
TensorTargets PartTargets(const Objective& objective, size_t part, const TensorTargets& targets);
// Float32 [batch, steps], 1 where a step counts; not defined where the part has no mask.
at::Tensor PartMask(const Objective& objective, size_t part, const at::Tensor& output);
// The examples' weights, float32 [batch]; not defined where they have none.
at::Tensor ExampleWeights(const Objective& objective, const TensorTargets& targets);

// Loss of each example, float32 [batch], of one part, before it is weighed; differentiable.
at::Tensor PartLossPerExample(const Objective& objective, size_t part, const at::Tensor& output,
                              const TensorTargets& targets);
// Loss of each example, float32 [batch], of all parts together; differentiable.
at::Tensor LossPerExample(const Objective& objective, const at::Tensor& output,
                          const TensorTargets& targets);

}  // namespace hopper
