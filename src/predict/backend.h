// What a prediction is computed by.
#pragma once

#include <memory>

#include "base/error.h"
#include "base/workers.h"
#include "model/planned/planned_network.h"

namespace hopper {

// Planned steps alone, which take no libtorch; engine/torch/backend.h has the other one.
// Thread-safe.
class PredictionBackend {
 public:
  virtual ~PredictionBackend() = default;
  virtual std::shared_ptr<const PlannedNetwork> MakeNetwork(
      std::shared_ptr<const ModelSpec> spec) const;
  // Of the threads that compute.
  virtual WorkerSetting Setting(const WorkerNeeds& needs) const;
  // The exception that is being handled; to be called in a catch block.
  virtual Problem Describe() const noexcept;
};

// A layer without a planned form, for which libtorch is wanted to predict, or with `training` also
// to train; null: all layers have planned forms.
const Layer* UnplannedLayer(const std::shared_ptr<const ModelSpec>& spec, bool training);

}  // namespace hopper
