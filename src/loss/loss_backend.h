// Losses that have no loop.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "loss/targets.h"
#include "model/shape.h"
#include "params/params.h"

namespace hopper {

// One loss of a batch: PlannedLoss has the same names.
struct LossBatch {
  LossKind loss;
  const LossOptions& options;
  bool logits;
  int64_t batch;
  const Shape& shape;  // of an example's output
  const float* output;
  const Targets& targets;
  const float* factors;  // null without a gradient
  float* losses;         // [batch]
  float* gradient;       // as `output`; null: not wanted
};

// Computes none. Thread-safe.
class LossBackend {
 public:
  virtual ~LossBackend() = default;
  virtual void RunLoss(const LossBatch& /*batch*/) const {
    throw Error(ErrorCode::kInternal, "a loss without a loop takes libtorch");
  }
};

}  // namespace hopper
