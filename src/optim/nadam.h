// Nadam. Slots: first moment, second moment.
#pragma once

#include <algorithm>

#include "optim/optimizer_type.h"

namespace hopper {

struct Nadam : Optimizer {
  static constexpr const char* kName = "Nadam";
  enum Argument { kBeta1, kBeta2, kEpsilon };
  static OptimizerArguments Arguments() {
    return {Number("beta_1", kUnitHalfOpen, 0.9), Number("beta_2", kUnitHalfOpen, 0.999),
            Number("epsilon", kNotNegative, 1e-7)};
  }

  // With mu_t = beta_1 * (1 - 0.96^t / 2) and the product of mu_1 to mu_t.
  struct Scalars {
    float rate, take_1, take_2, epsilon;
    float next;         // mu_(t+1)
    float unbias_next;  // 1 - the product to t + 1
    float rest;         // 1 - mu_t
    float unbias_1;     // 1 - the product to t
    float unbias_2;     // 1 - beta_2^t
  };
  // The momentum schedule is a function of the step counter: Keras keeps the product as a variable,
  // which would have to travel with the model.
  static Scalars At(const OptimizerParams& optimizer, int64_t step, float rate) {
    const int64_t t = step + 1;
    const auto beta_1 = static_cast<float>(optimizer.own[kBeta1]);
    const auto beta_2 = static_cast<float>(optimizer.own[kBeta2]);
    const auto momentum = [&](int64_t at) {
      return beta_1 * (1.0F - 0.5F * std::pow(0.96F, static_cast<float>(at)));
    };
    const double product = std::pow(optimizer.own[kBeta1], static_cast<double>(t)) * Product(t);
    const float next = momentum(t + 1);
    return {rate,
            1.0F - beta_1,
            1.0F - beta_2,
            static_cast<float>(optimizer.own[kEpsilon]),
            next,
            1.0F - static_cast<float>(product) * next,
            1.0F - momentum(t),
            1.0F - static_cast<float>(product),
            1.0F - std::pow(beta_2, static_cast<float>(t))};
  }

  struct Form : Kernel {
    using Scalars = Nadam::Scalars;
    static constexpr int kSlots = 2;
    static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s) {
      s[0] = s[0] + (g - s[0]) * p.take_1;
      s[1] = s[1] + (g * g - s[1]) * p.take_2;
      const float ahead = p.next * s[0] / p.unbias_next + p.rest * g / p.unbias_1;
      return w - (ahead * p.rate) / (std::sqrt(s[1] / p.unbias_2) + p.epsilon);
    }
  };

  using Kernels = TypeList<Form>;

 private:
  // Product of 1 - 0.96^k / 2 for k = 1 to t. It stands still after some 900 factors.
  static double Product(int64_t t) {
    static const std::vector<double> products = [] {
      std::vector<double> values{1.0};
      for (int k = 1; k <= 1024; ++k) {
        values.push_back(values.back() * (1.0 - 0.5 * std::pow(0.96, k)));
      }
      return values;
    }();
    return products[static_cast<size_t>(std::min<int64_t>(t, 1024))];
  }
};

}  // namespace hopper
