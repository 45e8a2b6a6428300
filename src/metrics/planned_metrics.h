// Metrics on the raw output of a planned step.
#pragma once

#include <cstdint>

#include "metrics/metrics.h"
#include "model/shape.h"

namespace hopper {

// The sum over the examples of a metric whose row has a loop for such outputs and labels, as
// MetricPerExample() defines it; false where it has to do it. `output` holds
// batch * ElementCount(shape) floats.
bool SumPlannedMetric(const MetricParams& metric, const float* output, int64_t batch,
                      const Shape& shape, bool logits, Activation last, const Targets& targets,
                      double* sum);

}  // namespace hopper
