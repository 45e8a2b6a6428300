// Predictions of networks of which libtorch computes a layer.
#pragma once

#include "predict/backend.h"

namespace hopper {

class TorchBackend : public PredictionBackend {
 public:
  std::shared_ptr<const PlannedNetwork> MakeNetwork(
      std::shared_ptr<const ModelSpec> spec) const override;
  WorkerSetting Setting(MemoryAccount* account) const override;
  Problem Describe() const noexcept override;
};

}  // namespace hopper
