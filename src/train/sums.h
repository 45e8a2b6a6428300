// Sums over the examples of a batch, in float64.
#pragma once

#include <ATen/core/Tensor.h>

#include "loss/loss.h"
#include "model/network.h"
#include "train/trainer.h"

namespace hopper {

// The last axis of the model's output.
int64_t OutputWidth(const ModelSpec& spec);

// Numbers in the sums of all metrics.
int64_t SumCount(const CompileParams& compile, const ModelSpec& spec);

// Sum of a float32 tensor's elements in their order.
double SumOf(const at::Tensor& values);

// Adds each metric of a batch to `sums`; gradients must be off.
void AddMetrics(const CompileParams& compile, const ModelSpec& spec, const at::Tensor& output,
                bool logits, const Targets& targets, MetricSums* sums);

// The same for the raw output of a planned step, batch * output elements floats.
void AddPlannedMetrics(const CompileParams& compile, const ModelSpec& spec, const float* output,
                       int64_t batch, bool logits, const Targets& targets, MetricSums* sums);

}  // namespace hopper
