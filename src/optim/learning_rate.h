// Values that follow a schedule: constant, one of Keras 3's, RealMLP's; the learning rate also by
// Keras 2's time decay.
#pragma once

#include <cstdint>

#include "optim/configuration.h"

namespace hopper {

// In float32, as Keras computes it. `step` is the number of steps taken before, so that a rate
// depends on the step counter alone and nothing has to travel with the model.
// Formulas: keras.optimizers.schedules.
float LearningRate(const OptimizerParams& optimizer, int64_t step);
// Alike.
float WeightDecay(const OptimizerParams& optimizer, int64_t step);
// Of a schedule that begins with `initial`. Formulas of kCosineLog and kFlatCosine: Holzmueller et
// al., "Better by Default" (2024), "coslog4" and "flat_cos", of the share of decay_steps that is
// done.
float ScheduledValue(const ScheduleParams& schedule, double initial, int64_t step);

// Sets `decay_steps` of a schedule in iterations of so many steps each.
void CountSteps(int64_t steps_of_iteration, ScheduleParams* schedule);

}  // namespace hopper
