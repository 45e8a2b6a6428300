// A model as steps are planned from it. No libtorch.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/graph/frozen_prefix.h"
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

class PlannedNetwork;

// Of a model that begins with frozen layers (model/graph/frozen_prefix.h); null for others.
struct NetworkParts {
  std::shared_ptr<const PlannedNetwork> prefix;
  std::shared_ptr<const PlannedNetwork> head;
};

// Immutable and thread-safe.
class PlannedNetwork {
 public:
  explicit PlannedNetwork(std::shared_ptr<const ModelSpec> spec);
  PlannedNetwork(std::shared_ptr<const ModelSpec> spec, NetworkParts parts);
  virtual ~PlannedNetwork() = default;

  const ModelSpec& spec() const { return *spec_; }
  const std::shared_ptr<const PlannedNetwork>& prefix() const { return parts_.prefix; }
  const std::shared_ptr<const PlannedNetwork>& head() const { return parts_.head; }
  // By node: the number that its random numbers are drawn by, another one for each call of a layer.
  uint32_t stream(size_t node) const { return streams_[node]; }

  // The op of a layer that has no planned one. This one's can be measured and not run: that takes
  // libtorch (Network).
  virtual std::unique_ptr<AutogradOp> MakeAutogradOp(int layer, PlanNode* node) const;

 private:
  const std::shared_ptr<const ModelSpec> spec_;
  const NetworkParts parts_;
  std::vector<uint32_t> streams_;
};

// Each of them a `Network`, which has no parts of its own.
template <typename Network>
NetworkParts PartsOf(const ModelSpec& spec) {
  FrozenSplit split = SplitFrozen(spec);
  if (split.prefix == nullptr) return {};
  return {std::make_shared<const Network>(std::move(split.prefix), NetworkParts()),
          std::make_shared<const Network>(std::move(split.head), NetworkParts())};
}

}  // namespace hopper
