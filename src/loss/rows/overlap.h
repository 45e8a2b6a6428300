// Dice and Tversky: of sums over outputs, over all examples of a batch unless axes are given.
#pragma once

#include "loss/rows/rows.h"
#include "model_hopper/limits.h"

namespace hopper {
namespace loss_rows {

inline void AddAxes(LossOptions* options, ArgumentList* arguments) {
  arguments->AddIntegers("axis", -HOPPER_MAX_RANK, HOPPER_MAX_RANK, &options->axes);
}

struct Dice {
  static LossType Type() {
    LossType type;
    type.name = "dice";
    type.of_probabilities = true;
    type.arguments = AddAxes;
    type.overlap = [](const LossOptions& /*options*/, const OverlapSums& sums) {
      return Pair{2.0F * sums.shared, sums.labelled + sums.given};
    };
    type.overlap_gradient = [](const LossOptions& /*options*/, const float* y, int64_t n,
                               float quotient, float below, float factor, float* gradient) {
      for (int64_t j = 0; j < n; ++j) {
        gradient[j] = factor * (quotient * 1.0F - 2.0F * y[j]) / below;
      }
    };
    return type;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = c.Labels();
    return c.OverAxes([&](const auto& axes) {
      const auto shared = sum(mul(y, c.output), axes);
      const auto all = add(sum(y, axes), sum(c.output, axes));
      return rsub(div(mul(shared, 2.0), add(all, kKerasEpsilon)), 1.0);
    });
  }
};

struct Tversky {
  static LossType Type() {
    LossType type;
    type.name = "tversky";
    type.of_probabilities = true;
    type.arguments = [](LossOptions* options, ArgumentList* arguments) {
      options->alpha = 0.5;
      arguments->AddNumber("alpha", kNotNegative, &options->alpha);
      arguments->AddNumber("beta", kNotNegative, &options->beta);
      AddAxes(options, arguments);
    };
    type.overlap = [](const LossOptions& options, const OverlapSums& sums) {
      const auto alpha = static_cast<float>(options.alpha);
      const auto beta = static_cast<float>(options.beta);
      return Pair{sums.shared, sums.shared + sums.missed * alpha + sums.extra * beta};
    };
    type.overlap_gradient = [](const LossOptions& options, const float* y, int64_t n,
                               float quotient, float below, float factor, float* gradient) {
      const auto alpha = static_cast<float>(options.alpha);
      const auto beta = static_cast<float>(options.beta);
      for (int64_t j = 0; j < n; ++j) {
        const float below_derivative = y[j] - alpha * y[j] + beta * (1.0F - y[j]);
        gradient[j] = factor * (quotient * below_derivative - y[j]) / below;
      }
    };
    return type;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = c.Labels();
    return c.OverAxes([&](const auto& axes) {
      const auto shared = sum(mul(y, c.output), axes);
      const auto missed = sum(mul(rsub(c.output, 1.0), y), axes);
      const auto extra = sum(mul(c.output, rsub(y, 1.0)), axes);
      const auto all =
          add(add(add(shared, missed, c.options.alpha), extra, c.options.beta), kKerasEpsilon);
      return rsub(div(shared, all), 1.0);
    });
  }
};

}  // namespace loss_rows
}  // namespace hopper
