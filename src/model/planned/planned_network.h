// A model as steps are planned from it. No libtorch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/planned/planned_op.h"
#include "model/spec.h"

namespace hopper {

// A layer without a planned op, run by autograd between two planned ones. From Forward() to
// Backward() it holds what autograd keeps of the layer, which is not a part of the plan's arena.
class AutogradOp : public PlannedOp {
 public:
  // Lets it go where no Backward() follows.
  virtual void Release() = 0;
};

// Immutable and thread-safe.
class PlannedNetwork {
 public:
  explicit PlannedNetwork(std::shared_ptr<const ModelSpec> spec);
  virtual ~PlannedNetwork() = default;

  const ModelSpec& spec() const { return *spec_; }
  // By node: the number that its random numbers are drawn by, another one for each call of a layer.
  uint32_t stream(size_t node) const { return streams_[node]; }

  // The op of a layer that has no planned one. This one's can be measured and not run: that takes
  // libtorch (Network).
  virtual std::unique_ptr<AutogradOp> MakeAutogradOp(int layer, PlanNode* node) const;

 private:
  const std::shared_ptr<const ModelSpec> spec_;
  std::vector<uint32_t> streams_;
};

}  // namespace hopper
