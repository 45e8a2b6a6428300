// Adam and AdamW. Slots: first moment, second moment, then its maximum (amsgrad).
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Adam : Optimizer {
  static constexpr const char* kName = "Adam";
  enum Argument { kBeta1, kBeta2, kEpsilon, kAmsgrad };
  static OptimizerArguments Arguments() {
    return {Number("beta_1", kUnitHalfOpen, 0.9), Number("beta_2", kUnitHalfOpen, 0.999),
            Number("epsilon", kNotNegative, 1e-7), Flag("amsgrad")};
  }
  static int Choose(const OptimizerParams& optimizer) {
    return optimizer.own[kAmsgrad] != 0.0 ? 1 : 0;
  }

  // The rate with the bias correction.
  struct Scalars {
    float rate, take_1, take_2, epsilon;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t step, float rate) {
    const auto t = static_cast<float>(step + 1);
    const float power_1 = std::pow(static_cast<float>(optimizer.own[kBeta1]), t);
    const float power_2 = std::pow(static_cast<float>(optimizer.own[kBeta2]), t);
    return {rate * std::sqrt(1.0F - power_2) / (1.0F - power_1),
            static_cast<float>(1.0 - optimizer.own[kBeta1]),
            static_cast<float>(1.0 - optimizer.own[kBeta2]),
            static_cast<float>(optimizer.own[kEpsilon])};
  }

  template <bool kMaximum>
  struct Form : Kernel {
    using Scalars = Adam::Scalars;
    static constexpr int kSlots = kMaximum ? 3 : 2;
    static constexpr const char* kSlotNames = kMaximum ? " amsgrad" : "";
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      s[0] = s[0] + (g - s[0]) * p.take_1;
      s[1] = s[1] + (g * g - s[1]) * p.take_2;
      float v = s[1];
      if (kMaximum) {
        v = s[2] > v ? s[2] : v;
        s[2] = v;
      }
      return w - (s[0] * p.rate) / (std::sqrt(v) + p.epsilon);
    }
  };

  using Kernels = TypeList<Form<false>, Form<true>>;
};

struct AdamW : Adam {
  static constexpr const char* kName = "AdamW";
  static constexpr double kWeightDecay = 0.004;
};

}  // namespace hopper
