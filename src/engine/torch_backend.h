// Predictions and training of networks of which libtorch computes a layer, a loss or a metric.
#pragma once

#include "train/backend.h"

namespace hopper {

class TorchBackend : public TrainingBackend {
 public:
  std::shared_ptr<const PlannedNetwork> MakeNetwork(
      std::shared_ptr<const ModelSpec> spec) const override;
  WorkerSetting Setting(MemoryAccount* account) const override;
  Problem Describe() const noexcept override;
  std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup,
                                               ModelState* state) const override;
  std::string Numerics() const override;
};

}  // namespace hopper
