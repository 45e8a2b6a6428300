// Adamax. Slots: first moment, weighted largest gradient.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Adamax : Optimizer {
  static constexpr const char* kName = "Adamax";
  enum Argument { kBeta1, kBeta2, kEpsilon };
  static OptimizerArguments Arguments() {
    return {Number("beta_1", kUnitHalfOpen, 0.9), Number("beta_2", kUnitHalfOpen, 0.999),
            Number("epsilon", kNotNegative, 1e-7)};
  }

  struct Scalars {
    float rate, take_1, keep_2, epsilon;
    float unbias_1;  // 1 - beta_1^t
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t step, float rate) {
    const auto beta_1 = static_cast<float>(optimizer.own[kBeta1]);
    return {rate, static_cast<float>(1.0 - optimizer.own[kBeta1]),
            static_cast<float>(optimizer.own[kBeta2]), static_cast<float>(optimizer.own[kEpsilon]),
            1.0F - std::pow(beta_1, static_cast<float>(step + 1))};
  }

  struct Form : Kernel {
    using Scalars = Adamax::Scalars;
    static constexpr int kSlots = 2;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      s[0] = s[0] + (g - s[0]) * p.take_1;
      const float decayed = p.keep_2 * s[1];
      const float size = std::abs(g);
      s[1] = decayed > size ? decayed : size;
      return w - (p.rate * s[0]) / (p.unbias_1 * (s[1] + p.epsilon));
    }
  };

  using Kernels = TypeList<Form>;
};

}  // namespace hopper
