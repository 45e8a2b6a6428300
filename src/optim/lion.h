// Lion. Slot: momentum.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Lion : Optimizer {
  static constexpr const char* kName = "Lion";
  enum Argument { kBeta1, kBeta2 };
  static OptimizerArguments Arguments() {
    return {Number("beta_1", kPositiveUnit, 0.9), Number("beta_2", kUnitHalfOpen, 0.99)};
  }

  struct Scalars {
    float rate, keep_1, take_1, keep_2, take_2;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t /*step*/, float rate) {
    const auto beta_1 = static_cast<float>(optimizer.own[kBeta1]);
    const auto beta_2 = static_cast<float>(optimizer.own[kBeta2]);
    return {rate, beta_1, 1.0F - beta_1, beta_2, 1.0F - beta_2};
  }

  struct Form : Kernel {
    using Scalars = Lion::Scalars;
    static constexpr int kSlots = 1;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      const float direction = s[0] * p.keep_1 + g * p.take_1;
      // Zero stays zero, NaN stays NaN.
      const float sign = direction > 0.0F ? 1.0F : (direction < 0.0F ? -1.0F : direction);
      s[0] = s[0] * p.keep_2 + g * p.take_2;
      return w - p.rate * sign;
    }
  };

  using Kernels = TypeList<Form>;
};

}  // namespace hopper
