#include "autograd/tensor_rows.h"

#include <ATen/ops/div.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace hopper {

TensorRows RowsOfPart(const ObjectivePart& part, const at::Tensor& output,
                      const TensorTargets& targets, const at::Tensor& mask, bool ignores) {
  const int64_t batch = output.size(0);
  const int64_t width = part.width();
  const int64_t n = batch * part.rows();
  TensorRows rows;
  rows.output = output.reshape({n, width});
  const bool numbers = targets.values.defined() && width > 1 && targets.values.numel() == n;
  if (targets.classes.defined()) {
    rows.targets.classes = targets.classes.reshape({n});
  } else if (numbers) {
    rows.targets.classes = targets.values.reshape({n}).to(at::kLong);
  } else {
    rows.targets.values = targets.values.reshape({n, width});
  }
  rows.targets.num_classes = width;
  if (mask.defined()) {
    // A step may have several rows.
    rows.counts = at::ne(mask, 0.0)
                      .unsqueeze(2)
                      .expand({batch, part.mask_size, part.rows() / part.mask_size})
                      .reshape({n});
  } else {
    rows.counts = at::ones({n}, output.options().dtype(at::kBool).requires_grad(false));
  }
  if (!rows.targets.classes.defined()) return rows;
  if (ignores && part.options.ignore_class) {
    rows.counts =
        at::logical_and(rows.counts, at::ne(rows.targets.classes, *part.options.ignore_class));
  }
  rows.targets.classes =
      at::where(rows.counts, rows.targets.classes, at::zeros_like(rows.targets.classes));
  return rows;
}

at::Tensor ShareOfRows(const at::Tensor& counts, int64_t n) {
  const at::Tensor counted = at::sum(counts, at::kFloat).reshape({1});
  const at::Tensor share = at::div(at::full_like(counted, static_cast<double>(n)), counted);
  return at::where(at::ne(counted, 0.0), share, at::zeros_like(share));
}

at::Tensor LossOfRows(const ObjectivePart& part, const TensorRows& rows, int64_t batch) {
  const at::Tensor losses =
      LossPerExample(part.loss, rows.output, part.logits, rows.targets, part.options);
  const at::Tensor counted = at::where(rows.counts, losses, at::zeros_like(losses));
  return at::mul(at::sum(counted.reshape({batch, -1}), {1}), ShareOfRows(rows.counts, batch));
}

}  // namespace hopper
