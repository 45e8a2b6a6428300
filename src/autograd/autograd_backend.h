// Training of what has no planned form or no loop, by libtorch.
#pragma once

#include "train/backend.h"

namespace hopper {

class AutogradBackend : public TrainingBackend {
 public:
  std::shared_ptr<const PlannedNetwork> MakeNetwork(
      std::shared_ptr<const ModelSpec> spec) const override;
  std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup,
                                               ModelState* state) const override;
  std::unique_ptr<Evaluator> MakeAutogradEvaluator(const EvaluatorSetup& setup) const override;
  void RunLoss(const LossBatch& batch) const override;
  std::string Numerics() const override;
  bool has_autograd() const override { return true; }
};

}  // namespace hopper
