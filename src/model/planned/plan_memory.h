// What a step of a network takes, known before anything is allocated, and how large batches are.
#pragma once

#include <cstdint>

#include "model/planned/step_plan.h"

namespace hopper {

// Blocks come in sizes a quarter apart.
constexpr double kRoundedUp = 1.25;

// Estimates are sums of doubles, which do not overflow.
int64_t Saturated(double bytes);

// Examples in a batch of evaluation and prediction: a function of the architecture only, since
// the bits of a sum depend on it.
int64_t EvaluationBatch(const ModelSpec& spec);

// Bytes of a plan, or of libtorch's pass where nothing is planned, without its loss and without the
// batch. options.measured_parts says how many threads share it, at least one.
double StepMemory(const PlannedNetwork& network, const PlanOptions& options);

}  // namespace hopper
