// RMSprop. Slots: mean square, then mean gradient (centered), then velocity (momentum).
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Rmsprop : Optimizer {
  static constexpr const char* kName = "RMSprop";
  enum Argument { kRho, kMomentum, kEpsilon, kCentered };
  static OptimizerArguments Arguments() {
    return {Number("rho", kUnitHalfOpen, 0.9), Number("momentum", kUnit, 0.0),
            Number("epsilon", kNotNegative, 1e-7), Flag("centered")};
  }
  static int Choose(const OptimizerParams& optimizer) {
    return (optimizer.own[kCentered] != 0.0 ? 2 : 0) + (optimizer.own[kMomentum] != 0.0 ? 1 : 0);
  }

  struct Scalars {
    float rate, momentum, epsilon, keep, take;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t /*step*/, float rate) {
    return {rate, static_cast<float>(optimizer.own[kMomentum]),
            static_cast<float>(optimizer.own[kEpsilon]), static_cast<float>(optimizer.own[kRho]),
            static_cast<float>(1.0 - optimizer.own[kRho])};
  }

  template <bool kIsCentered, bool kHasMomentum>
  struct Form : Kernel {
    using Scalars = Rmsprop::Scalars;
    static constexpr int kSlots = 1 + (kIsCentered ? 1 : 0) + (kHasMomentum ? 1 : 0);
    static constexpr const char* kSlotNames =
        kIsCentered ? (kHasMomentum ? " centered momentum" : " centered")
                    : (kHasMomentum ? " momentum" : "");
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      s[0] = p.keep * s[0] + p.take * (g * g);
      float variance = s[0];
      if (kIsCentered) {
        s[1] = p.keep * s[1] + p.take * g;
        variance = s[0] - s[1] * s[1];
      }
      const float increment = (p.rate * g) / std::sqrt(variance + p.epsilon);
      if (!kHasMomentum) return w - increment;
      float* velocity = s + (kIsCentered ? 2 : 1);
      *velocity = p.momentum * *velocity + increment;
      return w - *velocity;
    }
  };

  using Kernels =
      TypeList<Form<false, false>, Form<false, true>, Form<true, false>, Form<true, true>>;
};

}  // namespace hopper
