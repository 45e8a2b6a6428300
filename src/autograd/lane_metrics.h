// Metrics as sums on any device, for several models side by side and without waiting for the
// device: the sums of metrics/metric_sums.h as a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "autograd/tensor_metrics.h"

namespace hopper {

// What `of` makes of each lane's rows on their own, one after another. `output` and `targets` hold
// lanes * batch rows.
at::Tensor ByLane(const at::Tensor& output, const TensorTargets& targets, int64_t lanes,
                  const std::function<at::Tensor(const at::Tensor&, const TensorTargets&)>& of);

// Sums of a batch, float64 [lanes, MetricSumCount()]. `output` is float32 [lanes * batch, ...] with
// its lanes one after another, and so are the targets. Otherwise as AddMetricSums().
at::Tensor LaneMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last, const TensorTargets& targets, const at::Tensor& weights,
                          int64_t lanes);

}  // namespace hopper
