// Sums over the examples of a batch, in float64.
#pragma once

#include <cstdint>

#include "loss/planned_objective.h"
#include "model/spec.h"
#include "params/params.h"
#include "train/metric_sums.h"

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

// Adds each metric of a batch whose loss has run.
void AddMetrics(const CompileParams& compile, const ModelSpec& spec,
                const PlannedObjective& planned, MetricSums* sums);

}  // namespace hopper
