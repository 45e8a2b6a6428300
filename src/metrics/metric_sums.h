// Metrics as sums: each metric is a fixed number of float64 sums that are added batch by batch and
// merged by addition, and a value that is a function of them. Means over examples have one sum;
// confusion counts, areas under a curve and R2 have more. Counts stay exact up to 2^53.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "loss/loss_backend.h"
#include "loss/targets.h"
#include "metrics/metric_value.h"
#include "model/shape.h"
#include "params/params.h"

namespace hopper {

// Outputs of a batch with their labels.
struct MetricBatch {
  const float* output;  // [batch, shape...]
  int64_t batch;
  const Shape& shape;
  bool logits;  // `output` is what the activation `last` is to be taken of
  Activation last;
  const Targets& targets;
  // Of the examples, null where they have none: they count for weighted metrics and for the losses
  // of outputs.
  const float* weights;
  const Kernels& kernels;
  const LossBackend& backend;
};

// Adds a batch to MetricSumCount() sums. Of logits, ranks are taken as they are, and other metrics
// and losses that do not take logits of what `last` makes of them.
void AddMetricSums(const MetricParams& metric, const MetricBatch& batch, double* sums);

// Whether it wants a backend for outputs of such a shape.
bool MetricHasLoop(const MetricParams& metric, const Shape& shape);

}  // namespace hopper
