// SGD, with momentum or Nesterov's. Slot: velocity.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Sgd : Optimizer {
  static constexpr const char* kName = "SGD";
  static constexpr double kLearningRate = 0.01;
  enum Argument { kMomentum, kNesterov };
  static OptimizerArguments Arguments() {
    return {Number("momentum", kUnit, 0.0), Flag("nesterov")};
  }
  static int Choose(const OptimizerParams& optimizer) {
    if (optimizer.own[kMomentum] == 0.0) return 0;
    return optimizer.own[kNesterov] != 0.0 ? 2 : 1;
  }

  struct Scalars {
    float rate, momentum;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t /*step*/, float rate) {
    return {rate, static_cast<float>(optimizer.own[kMomentum])};
  }

  struct Plain : Kernel {
    using Scalars = Sgd::Scalars;
    static constexpr int kSlots = 0;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* /*s*/) {
      return w - g * p.rate;
    }
  };

  template <bool kAhead>
  struct Momentum : Kernel {
    using Scalars = Sgd::Scalars;
    static constexpr int kSlots = 1;
    static constexpr const char* kSlotNames = " momentum";
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      const float increment = g * p.rate;
      const float velocity = s[0] * p.momentum - increment;
      s[0] = velocity;
      return w + (kAhead ? velocity * p.momentum - increment : velocity);
    }
  };

  using Kernels = TypeList<Plain, Momentum<false>, Momentum<true>>;
};

}  // namespace hopper
