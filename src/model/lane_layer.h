// What a layer may add to run several models at once: see model/network/lanes.h. No libtorch here.
#pragma once

#ifdef HOPPER_TORCH
#include <ATen/core/Tensor.h>

#include <vector>
#endif

namespace hopper {

#ifdef HOPPER_TORCH
class LaneValue;
struct LaneContext;

// A layer that runs its lanes in a form of its own derives from this, too.
class LaneLayer {
 public:
  virtual ~LaneLayer() = default;
  // Layer::Forward() of all lanes; `weights` are [lanes, Keras' shape...].
  virtual LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                                 const std::vector<at::Tensor>& weights,
                                 const LaneContext& context) const = 0;
};

// A layer that wants its weights and does its sums in float32 whatever the precision of what it
// works on: normalizations.
class FloatWeightsLayer {
 public:
  virtual ~FloatWeightsLayer() = default;
};
#else
class LaneLayer {};
class FloatWeightsLayer {};
#endif

}  // namespace hopper
