// What training a model computes.
#pragma once

#include <cstdint>

#include "model/spec.h"

namespace hopper {

// A backward pass costs about twice the forward pass.
constexpr double kTrainingFactor = 3.0;

// Floating-point operations of a forward pass of one example: one more than the layers', so that a
// model without arithmetic is work, too.
inline double PassFlops(const ModelSpec& spec) { return static_cast<double>(spec.flops + 1); }

// Of a step's share of one example, forward and backward.
inline double TrainingFlops(const ModelSpec& spec) { return kTrainingFactor * PassFlops(spec); }

// Of an iteration over so many rows, `epochs` times each. `example`: TrainingFlops().
inline double IterationFlops(double example, double rows, int64_t epochs) {
  return example * rows * static_cast<double>(epochs);
}

}  // namespace hopper
