// Metrics as sums on any device, for several models side by side and without waiting for the
// device: the sums of metrics/accumulate.h as a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "metrics/accumulate.h"

namespace hopper {

// What `of` makes of each lane's rows on their own, one after another. `output` and `targets` hold
// lanes * batch rows.
at::Tensor ByLane(const at::Tensor& output, const Targets& targets, int64_t lanes,
                  const std::function<at::Tensor(const at::Tensor&, const Targets&)>& of);

// Sums of a batch, float64 [lanes, MetricSumCount()]. `output` is float32 [lanes * batch, ...] with
// its lanes one after another, and so are the targets. Otherwise as AddMetricSums().
at::Tensor LaneMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last, const Targets& targets, const at::Tensor& weights,
                          int64_t lanes);

}  // namespace hopper
