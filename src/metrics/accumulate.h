// Metrics as sums: each metric is a fixed number of float64 sums that are added batch by batch and
// merged by addition, and a value that is a function of them. Means over examples have one sum;
// confusion counts, areas under a curve and R2 have more. Counts stay exact up to 2^53.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "loss/loss.h"
#include "metrics/metric_value.h"
#include "params/params.h"

namespace hopper {

// Sum of a float32 tensor's elements in their order.
double SumOf(const at::Tensor& values);

// Adds a batch to MetricSumCount() sums. Arguments as of MetricPerExample(); gradients must be off.
// `weights`: of the examples, float32 [batch], not defined where they have none; they count for
// weighted metrics and for the losses of outputs.
void AddMetricSums(const MetricParams& metric, const at::Tensor& output, bool logits,
                   Activation last, const Targets& targets, double* sums,
                   const at::Tensor& weights = {});

}  // namespace hopper
