#include "autograd/autograd_backend.h"

#include <torch/version.h>

#include <utility>

#include "autograd/autograd_steps.h"
#include "autograd/torch_numerics.h"
#include "model/network/network.h"

namespace hopper {

std::shared_ptr<const PlannedNetwork> AutogradBackend::MakeNetwork(
    std::shared_ptr<const ModelSpec> spec) const {
  return std::make_shared<const Network>(std::move(spec));
}

std::unique_ptr<Stepper> AutogradBackend::MakeAutogradStepper(const StepperSetup& setup,
                                                              ModelState* state) const {
  return hopper::MakeAutogradStepper(setup, state);
}

std::unique_ptr<Evaluator> AutogradBackend::MakeAutogradEvaluator(
    const EvaluatorSetup& setup) const {
  return hopper::MakeAutogradEvaluator(setup);
}

void AutogradBackend::RunLoss(const LossBatch& batch) const { RunLossByAutograd(batch); }

std::string AutogradBackend::Numerics() const {
  return "torch " TORCH_VERSION " (" + TorchNumericsCheck() + ")";
}

}  // namespace hopper
