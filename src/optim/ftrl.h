// Ftrl. Slots: sum of squares, linear term.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Ftrl : Optimizer {
  static constexpr const char* kName = "Ftrl";
  enum Argument { kPower, kInitialAccumulatorValue, kL1, kL2, kL2Shrinkage, kBeta };
  static OptimizerArguments Arguments() {
    return {Number("learning_rate_power", kNotPositive, -0.5),
            Number("initial_accumulator_value", kNotNegative, 0.1),
            Number("l1_regularization_strength", kNotNegative, 0.0),
            Number("l2_regularization_strength", kNotNegative, 0.0),
            Number("l2_shrinkage_regularization_strength", kNotNegative, 0.0),
            Number("beta", kNotNegative, 0.0)};
  }
  static float FirstSlot(const OptimizerParams& optimizer) {
    return static_cast<float>(optimizer.own[kInitialAccumulatorValue]);
  }
  static int Choose(const OptimizerParams& optimizer) {
    return optimizer.own[kPower] == -0.5 ? 0 : 1;
  }

  struct Scalars {
    float rate;
    float twice_shrinkage;
    float power;     // -learning_rate_power
    float twice_l2;  // with beta / rate
    float l1;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t /*step*/, float rate) {
    return {rate, static_cast<float>(2.0 * optimizer.own[kL2Shrinkage]),
            static_cast<float>(-optimizer.own[kPower]),
            2.0F * (static_cast<float>(optimizer.own[kL2]) +
                    static_cast<float>(optimizer.own[kBeta]) / (2.0F * rate)),
            static_cast<float>(optimizer.own[kL1])};
  }

  template <bool kSquareRoot>
  struct Form : Kernel {
    using Scalars = Ftrl::Scalars;
    static constexpr int kSlots = 2;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      const float sum = s[0] + g * g;
      const float power = kSquareRoot ? std::sqrt(sum) : std::pow(sum, p.power);
      const float power_before = kSquareRoot ? std::sqrt(s[0]) : std::pow(s[0], p.power);
      const float linear =
          s[1] + ((g + p.twice_shrinkage * w) - (power - power_before) / p.rate * w);
      s[0] = sum;
      s[1] = linear;
      // The comparisons keep NaN.
      const float clipped = linear > p.l1 ? p.l1 : (linear < -p.l1 ? -p.l1 : linear);
      return (clipped - linear) / (power / p.rate + p.twice_l2);
    }
  };

  using Kernels = TypeList<Form<true>, Form<false>>;
};

}  // namespace hopper
