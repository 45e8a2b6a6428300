// What a prediction is computed by.
#pragma once

#include <memory>

#include "base/error.h"
#include "base/workers.h"
#include "model/planned/planned_network.h"

namespace hopper {

// Planned steps alone, which take no libtorch; engine/torch_backend.h has the other one.
// Thread-safe.
class PredictionBackend {
 public:
  virtual ~PredictionBackend() = default;
  virtual std::shared_ptr<const PlannedNetwork> MakeNetwork(
      std::shared_ptr<const ModelSpec> spec) const;
  // Of the threads that compute.
  virtual WorkerSetting Setting(MemoryAccount* account) const;
  // The exception that is being handled; to be called in a catch block.
  virtual Problem Describe() const noexcept;
};

// Whether all layers have planned forms, so that no libtorch is wanted to predict.
bool IsPlanned(const std::shared_ptr<const ModelSpec>& spec);

}  // namespace hopper
