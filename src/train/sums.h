// Sums over the examples of a batch, in float64.
#pragma once

#include <ATen/core/Tensor.h>

#include "loss/objective.h"
#include "model/network/network.h"
#include "train/trainer.h"

namespace hopper {

// The last axis of the output that a metric is of.
int64_t OutputWidth(const MetricParams& metric, const ModelSpec& spec);

// Numbers in the sums of all metrics.
int64_t SumCount(const CompileParams& compile, const ModelSpec& spec);

// Sets MetricParams::by_row: means over examples of an output with a mask are means over its steps
// that count, and so does a confusion matrix leave out what its loss leaves out. Counts of other
// metrics, such as AUC, are of all steps, as in Keras.
void CountRows(const ModelSpec& spec, CompileParams* compile);

// What regularizers of weights add to the sum of losses of n examples. It counts as a float32, as
// an example's loss: a sum in float64 is then the same in whatever order it is made.
inline double PenaltySum(double penalty, int64_t n) {
  return static_cast<double>(static_cast<float>(penalty)) * static_cast<double>(n);
}

// What a metric is taken of: a part's output, or where labels were scaled, what predict() would
// make of it. A loss is of what the model puts out.
at::Tensor MeasuredOutput(const MetricParams& metric, const ObjectivePart& part,
                          const at::Tensor& output);

// Adds each metric of a batch to `sums`; gradients must be off.
void AddMetrics(const CompileParams& compile, const ModelSpec& spec, const Objective& objective,
                const at::Tensor& output, const Targets& targets, MetricSums* sums);

// Adds the metrics of a planned step whose loss has run.
void AddPlannedMetrics(const CompileParams& compile, const ModelSpec& spec,
                       const Objective& objective, const PlannedObjective& planned, int64_t batch,
                       MetricSums* sums);

}  // namespace hopper
