// What a step of a network takes, known before anything is allocated.
#pragma once

#include <cstdint>

#include "model/network/step_plan.h"

namespace hopper {

// Blocks of tensors come in sizes a quarter apart.
constexpr double kRoundedUp = 1.25;

// Estimates are sums of doubles, which do not overflow.
int64_t Saturated(double bytes);

// Bytes of a plan, or of libtorch's pass where nothing is planned, without its loss and without the
// batch. options.measured_parts says how many threads share it, at least one.
double StepMemory(const Network& network, const PlanOptions& options);

}  // namespace hopper
