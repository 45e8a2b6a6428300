// Predictions and training of networks of which libtorch computes a layer, a loss or a metric.
#pragma once

#include "autograd/autograd_backend.h"
#include "engine/torch/lane_devices.h"

namespace hopper {

class TorchBackend : public AutogradBackend {
 public:
  WorkerSetting Setting(const WorkerNeeds& needs) const override;
  Problem Describe() const noexcept override;
  const Devices* devices() const override { return &devices_; }

 private:
  LaneDevices devices_;
};

}  // namespace hopper
