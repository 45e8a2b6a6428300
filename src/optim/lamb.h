// Lamb. Slots: first moment, second moment.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Lamb : Optimizer {
  static constexpr const char* kName = "Lamb";
  enum Argument { kBeta1, kBeta2, kEpsilon };
  static OptimizerArguments Arguments() {
    return {Number("beta_1", kUnitHalfOpen, 0.9), Number("beta_2", kUnitHalfOpen, 0.999),
            Number("epsilon", kNotNegative, 1e-7)};
  }

  struct Scalars {
    float take_1, take_2, epsilon;
    float unbias_1, unbias_2;  // 1 - beta^t
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t step, float /*rate*/) {
    const auto unbias = [&](Argument beta) {
      return 1.0F - std::pow(static_cast<float>(optimizer.own[beta]), static_cast<float>(step + 1));
    };
    return {static_cast<float>(1.0 - optimizer.own[kBeta1]),
            static_cast<float>(1.0 - optimizer.own[kBeta2]),
            static_cast<float>(optimizer.own[kEpsilon]), unbias(kBeta1), unbias(kBeta2)};
  }

  // Adam's step, as long as the tensor's norm asks for.
  struct Form : Kernel {
    using Scalars = Lamb::Scalars;
    static constexpr int kSlots = 2;
    static constexpr bool kByNorms = true;
    static HOPPER_INLINE float Update(const Scalars& p, float g, float /*w*/, float* s) {
      s[0] = s[0] + (g - s[0]) * p.take_1;
      s[1] = s[1] + (g * g - s[1]) * p.take_2;
      return s[0] / p.unbias_1 / (std::sqrt(s[1] / p.unbias_2) + p.epsilon);
    }
  };

  using Kernels = TypeList<Form>;
};

}  // namespace hopper
