// Adadelta. Slots: mean square of the gradients, mean square of the increments.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Adadelta : Optimizer {
  static constexpr const char* kName = "Adadelta";
  enum Argument { kRho, kEpsilon };
  static OptimizerArguments Arguments() {
    return {Number("rho", kUnitHalfOpen, 0.95), Number("epsilon", kNotNegative, 1e-7)};
  }

  struct Scalars {
    float rate, keep, take, epsilon;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t /*step*/, float rate) {
    return {rate, static_cast<float>(optimizer.own[kRho]),
            static_cast<float>(1.0 - optimizer.own[kRho]),
            static_cast<float>(optimizer.own[kEpsilon])};
  }

  struct Form : Kernel {
    using Scalars = Adadelta::Scalars;
    static constexpr int kSlots = 2;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      s[0] = p.keep * s[0] + p.take * (g * g);
      const float increment = -(std::sqrt(s[1] + p.epsilon) * g / std::sqrt(s[0] + p.epsilon));
      s[1] = p.keep * s[1] + p.take * (increment * increment);
      return w + p.rate * increment;
    }
  };

  using Kernels = TypeList<Form>;
};

}  // namespace hopper
