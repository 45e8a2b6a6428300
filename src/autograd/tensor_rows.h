// The rows of outputs of which not all steps count (loss/part_rows.h), as tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "autograd/tensor_loss.h"
#include "loss/objective.h"

namespace hopper {

// [batch * rows] of a batch, one example's behind the other's.
struct TensorRows {
  at::Tensor output;      // [batch * rows, width]
  TensorTargets targets;  // of each row; of a row that does not count, a class is 0
  at::Tensor counts;      // bool [batch * rows]
};

// `output` and `targets` are a part's; `mask`, float32 [batch, steps], its mask, not defined where
// it has none. `ignores`: options.ignore_class, too, says which rows count.
TensorRows RowsOfPart(const ObjectivePart& part, const at::Tensor& output,
                      const TensorTargets& targets, const at::Tensor& mask, bool ignores);

// Of a batch of n examples in rows that count or not: n / the number of those that do, float32 [1];
// 0 where none does. A mean over n examples of their rows' sums, times it, is the mean over these
// rows: keras.src.losses.loss.apply_mask().
at::Tensor ShareOfRows(const at::Tensor& counts, int64_t n);

// Loss of each example of a part that looks at rows, float32 [batch]: the sum of its rows' that
// count, times ShareOfRows(). Differentiable.
at::Tensor LossOfRows(const ObjectivePart& part, const TensorRows& rows, int64_t batch);

}  // namespace hopper
