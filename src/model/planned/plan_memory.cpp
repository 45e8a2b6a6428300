#include "model/planned/plan_memory.h"

#include <limits>

#include "base/worker_memory.h"
#include "model/planned/step_plan.h"

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

int64_t EvaluationBatch(const ModelSpec& spec) {
  constexpr int64_t kFloats = 4 << 20;  // 16 MB
  int64_t batch = 1024;
  while (batch > 16 && batch * spec.activation_floats > kFloats) batch /= 2;
  return batch;
}

double StepMemory(const PlannedNetwork& network, const PlanOptions& options) {
  const ModelSpec& spec = network.spec();
  const double activations =
      static_cast<double>(options.batch) * static_cast<double>(spec.activation_floats);
  if (!PlannedStepsAreUsed() || activations > kTooManyToPlan) {
    const double copies = options.training ? kTrainingCopies : kForwardCopies;
    const double gradients = options.training ? static_cast<double>(spec.flat_size) : 0.0;
    return (activations * copies + gradients) * sizeof(float);
  }
  const StepPlan plan(network, options);
  return static_cast<double>(BlockBytes(plan.arena_floats() * int64_t{sizeof(float)})) +
         static_cast<double>(plan.autograd_floats()) * sizeof(float) * kRoundedUp;
}

}  // namespace hopper
