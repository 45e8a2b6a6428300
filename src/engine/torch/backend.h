// Predictions and training of networks of which libtorch computes a layer, a loss or a metric.
#pragma once

#include "engine/torch/lane_devices.h"
#include "train/backend.h"

namespace hopper {

class TorchBackend : public TrainingBackend {
 public:
  std::shared_ptr<const PlannedNetwork> MakeNetwork(
      std::shared_ptr<const ModelSpec> spec) const override;
  WorkerSetting Setting(const WorkerNeeds& needs) const override;
  Problem Describe() const noexcept override;
  std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup,
                                               ModelState* state) const override;
  std::string Numerics() const override;
  const Devices* devices() const override { return &devices_; }

 private:
  LaneDevices devices_;
};

}  // namespace hopper
