// The learning rate of a step: constant, Keras 2's time decay, or a schedule of Keras 3.
#pragma once

#include <cstdint>

#include "optim/configuration.h"

namespace hopper {

// In float32, as Keras computes it. `step` is the number of steps taken before, so that a rate
// depends on the step counter alone and nothing has to travel with the model.
// Formulas: keras.optimizers.schedules.
float LearningRate(const OptimizerParams& optimizer, int64_t step);

}  // namespace hopper
