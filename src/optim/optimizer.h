// Keras' optimizers on flat float32 buffers: one linear pass over weights, gradients and slots.
// Formulas: keras.optimizers.SGD, RMSprop, Adam of Keras 3; torch's rules of the same names
// differ (epsilon, learning rate inside the velocity, weight decay).
#pragma once

#include <cstdint>
#include <vector>

#include "params/params.h"

namespace hopper {

// A trainable weight: where it lies in the parameter and gradient buffers, and in each slot.
struct TrainableSpan {
  int64_t offset = 0;
  int64_t slot_offset = 0;
  int64_t size = 0;
  double l1 = 0.0;  // regularization: adds l1 * sum|w| + l2 * sum(w^2) to the loss (no half)
  double l2 = 0.0;
};

// Slot arrays that the optimizer keeps beside the weights (velocity, moments).
int SlotCount(const OptimizerParams& optimizer);
// "SGD", "RMSprop", "Adam".
const char* OptimizerName(OptimizerKind kind);

// Adds the regularizers' gradients, clips (clipvalue, or clipnorm per tensor), updates weights
// and slots. `step` is the number of steps taken before (0 for the first). `slots` holds
// SlotCount() arrays of `slot_size` floats each. `gradients` is used as scratch.
void ApplyOptimizer(const OptimizerParams& optimizer, int64_t step,
                    const std::vector<TrainableSpan>& spans, float* params, float* gradients,
                    float* slots, int64_t slot_size);

// Sum of the regularization terms that Keras adds to the loss.
double RegularizationLoss(const std::vector<TrainableSpan>& spans, const float* params);

}  // namespace hopper
