#include "train/plan_memory.h"

#include <limits>

#include "train/stepper.h"
#include "train/tensor_memory.h"

namespace hopper {

namespace {

// Activations and gradients of a batch, with room for what an operation needs for itself.
constexpr double kTrainingCopies = 3.0;
constexpr double kForwardCopies = 1.5;
constexpr double kTooManyToPlan = 1e12;

}  // namespace

int64_t Saturated(double bytes) {
  return bytes < 9e18 ? static_cast<int64_t>(bytes) : std::numeric_limits<int64_t>::max();
}

double StepMemory(const Network& network, const PlanOptions& options) {
  const ModelSpec& spec = network.spec();
  const double activations =
      static_cast<double>(options.batch) * static_cast<double>(spec.activation_floats);
  if (!PlannedStepsAreUsed() || activations > kTooManyToPlan) {
    const double copies = options.training ? kTrainingCopies : kForwardCopies;
    const double gradients = options.training ? static_cast<double>(spec.flat_size) : 0.0;
    return (activations * copies + gradients) * sizeof(float);
  }
  const StepPlan plan(network, options);
  return static_cast<double>(TensorBytes(plan.arena_floats() * int64_t{sizeof(float)})) +
         static_cast<double>(plan.autograd_floats()) * sizeof(float) * kRoundedUp;
}

}  // namespace hopper
