// Keras' optimizers on flat float32 buffers: one linear pass over weights, gradients and slots.
// Formulas: keras.optimizers.* of Keras 3; torch's rules of the same names differ (epsilon,
// learning rate inside the velocity, weight decay).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/team.h"
#include "optim/configuration.h"
#include "optim/constraint.h"
#include "optim/kernel.h"

namespace hopper {

// A trainable weight: where it lies in the parameter and gradient buffers, and in each slot.
struct TrainableSpan {
  int64_t offset = 0;
  int64_t slot_offset = 0;
  int64_t size = 0;
  double l1 = 0.0;  // regularization: adds l1 * sum|w| + l2 * sum(w^2) to the loss (no half)
  double l2 = 0.0;
  double lr_factor = 1.0;                                  // of the learning rate
  double decay_factor = 1.0;                               // of the weight decay, beside that
  std::shared_ptr<const Constraint> constraint = nullptr;  // none
};

// Slot arrays that the optimizer keeps beside the weights: velocity, moments; the moving average
// of the weights is the last.
int SlotCount(const OptimizerParams& optimizer);
// "SGD", "RMSprop", "Adam"...
const char* OptimizerName(const OptimizerParams& optimizer);
// What the slots hold, for the state: the optimizer's name and the options that add slots,
// "Adam amsgrad ema". Slots of another name are of no use.
std::string SlotNames(const OptimizerParams& optimizer);

// One step, in Keras' order: adds the regularizers' gradients, clips (clipvalue, clipnorm per
// tensor, or all tensors together), decays and updates weights and slots, then their average, and
// constrains the weights.
// `step` is the number of steps taken before; at 0 the slots, which must be zero, get their
// initial values. Everything else that a step needs (learning rate, momentum products) is a
// function of `step`. `slots` holds SlotCount() arrays of `slot_size` floats each. `gradients` is
// used as scratch. Where `shadow` is not null, it has the layout of `params` and gets the new
// weights in bfloat16. A team shares large updates; the bits do not depend on it.
void ApplyOptimizer(const OptimizerParams& optimizer, int64_t step,
                    const std::vector<TrainableSpan>& spans, float* params, float* gradients,
                    float* slots, int64_t slot_size, uint16_t* shadow = nullptr,
                    Team* team = nullptr);

// A kernel of the table of optimizers, see optim/kernel.h.
struct KernelType {
  int slots;
  bool by_norms;
  const char* slot_names;
};
// The place of the kernel that a configuration wants, and what is there.
int KernelPlace(const OptimizerParams& optimizer);
const KernelType& KernelAt(int place);
// The numbers of the step after `step` others, for weights whose rate has a factor.
StepScalars ScalarsAt(const OptimizerParams& optimizer, int64_t step, double lr_factor = 1.0);
// LearningRate() of such weights.
float RateAt(const OptimizerParams& optimizer, int64_t step, double lr_factor);

// Overwrites the trainable weights in `params` with their moving averages, where the optimizer
// keeps some: Keras does that at the end of fit(). `step`: steps taken before.
void UseAverages(const OptimizerParams& optimizer, int64_t step,
                 const std::vector<TrainableSpan>& spans, const float* slots, int64_t slot_size,
                 float* params);

// Sum of the regularization terms that Keras adds to the loss.
double RegularizationLoss(const std::vector<TrainableSpan>& spans, const float* params);

}  // namespace hopper
