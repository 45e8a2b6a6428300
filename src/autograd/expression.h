// Values of user-written expressions (params/expression.h).
#pragma once

#include <ATen/core/Tensor.h>

#include "params/expression.h"

namespace hopper {

// The expression over labels and outputs of one shape [batch, outputs...]; differentiable by
// `output`. mean, sum, max, min, softmax and logsumexp work on the last axis, which stays (as one
// value for the reductions). Comparisons are 1 or 0. Where two values are equal, the gradients of
// maximum and minimum are TensorFlow's: all of it is the first one's.
at::Tensor ExpressionValues(const Expression& expression, const at::Tensor& labels,
                            const at::Tensor& output);

}  // namespace hopper
