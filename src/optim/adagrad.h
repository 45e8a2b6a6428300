// Adagrad. Slot: sum of squares.
#pragma once

#include "optim/optimizer_type.h"

namespace hopper {

struct Adagrad : Optimizer {
  static constexpr const char* kName = "Adagrad";
  enum Argument { kInitialAccumulatorValue, kEpsilon };
  static OptimizerArguments Arguments() {
    return {Number("initial_accumulator_value", kNotNegative, 0.1),
            Number("epsilon", kNotNegative, 1e-7)};
  }
  static float FirstSlot(const OptimizerParams& optimizer) {
    return static_cast<float>(optimizer.own[kInitialAccumulatorValue]);
  }

  struct Scalars {
    float rate, epsilon;
  };
  static Scalars At(const OptimizerParams& optimizer, int64_t /*step*/, float rate) {
    return {rate, static_cast<float>(optimizer.own[kEpsilon])};
  }

  struct Form : Kernel {
    using Scalars = Adagrad::Scalars;
    static constexpr int kSlots = 1;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      s[0] = s[0] + g * g;
      return w - (p.rate * g) / std::sqrt(s[0] + p.epsilon);
    }
  };

  using Kernels = TypeList<Form>;
};

}  // namespace hopper
