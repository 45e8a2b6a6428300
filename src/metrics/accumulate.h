// Metrics as sums: each metric is a fixed number of float64 sums that are added batch by batch and
// merged by addition, and a value that is a function of them. Means over examples have one sum;
// confusion counts, areas under a curve and R2 have more. Counts stay exact up to 2^53.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "loss/loss.h"
#include "params/params.h"

namespace hopper {

// How many sums; `width` is the model's last output axis.
int64_t MetricSumCount(const MetricParams& metric, int64_t width);

// Adds a batch to MetricSumCount() sums. Arguments as of MetricPerExample(); gradients must be off.
void AddMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                   Activation last, const Targets& targets, double* sums);

// The metric's value after `examples` examples. Formulas: keras.metrics.*.
double MetricValue(const MetricParams& metric, const double* sums, int64_t examples, int64_t width);

}  // namespace hopper
