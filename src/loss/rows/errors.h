// Errors: element by element, of numbers.
#pragma once

#include "loss/rows/rows.h"

namespace hopper {
namespace loss_rows {

// LossType::elements of differences and their squares.
template <bool kSquared>
void ElementsOfDifferences(const Kernels& kernels, const float* p, const float* y, int64_t n,
                           float* losses, float* derivatives) {
  kernels.difference_loss(kSquared, p, y, n, losses, derivatives);
}

struct MeanSquaredError {
  static LossType Type() {
    LossType type = OfElements<MeanSquaredError>("mean_squared_error", {"mse"});
    type.elements = ElementsOfDifferences<true>;
    type.power_of_unit = 2;
    return type;
  }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    return {(p - y) * (p - y), 2.0F * (p - y)};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(mse_loss(c.output, c.Labels(), kNoReduction));
  }
};

struct MeanAbsoluteError {
  static LossType Type() {
    LossType type = OfElements<MeanAbsoluteError>("mean_absolute_error", {"mae"});
    type.elements = ElementsOfDifferences<false>;
    type.power_of_unit = 1;
    return type;
  }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    return {std::abs(p - y), Sign(p - y)};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(abs(sub(c.output, c.Labels())));
  }
};

struct MeanAbsolutePercentageError {
  static LossType Type() {
    LossType type =
        OfElements<MeanAbsolutePercentageError>("mean_absolute_percentage_error", {"mape"});
    type.of_shares = true;
    return type;
  }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    const float size = std::max(std::abs(y), kEpsilon);
    return {100.0F * std::abs((y - p) / size), 100.0F * Sign(p - y) / size};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = c.Labels();
    const auto size = clamp_min(abs(y), kKerasEpsilon);
    return mul(c.Mean(abs(div(sub(y, c.output), size))), 100.0);
  }
};

struct MeanSquaredLogarithmicError {
  static LossType Type() {
    LossType type =
        OfElements<MeanSquaredLogarithmicError>("mean_squared_logarithmic_error", {"msle"});
    type.of_amounts = true;
    return type;
  }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    const float shifted = (p < kEpsilon ? kEpsilon : p) + 1.0F;
    const float d = std::log(shifted) - std::log(std::max(y, kEpsilon) + 1.0F);
    return {d * d, p < kEpsilon ? 0.0F : 2.0F * d / shifted};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto log_of = [](const auto& x) { return log(add(clamp_min(x, kKerasEpsilon), 1.0)); };
    return c.Mean(square(sub(log_of(c.output), log_of(c.Labels()))));
  }
};

struct Huber {
  static LossType Type() {
    LossType type = OfElements<Huber>("huber", {"huber_loss"});
    type.arguments = [](LossOptions* options, ArgumentList* arguments) {
      arguments->AddNumber("delta", kPositive, &options->delta);
    };
    return type;
  }
  static Pair Element(const LossOptions& options, float p, float y) {
    const auto delta = static_cast<float>(options.delta);
    const float d = p - y;
    const float size = std::abs(d);
    if (size < delta) return {0.5F * d * d, d};
    return {delta * (size - 0.5F * delta), delta * Sign(d)};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(huber_loss(c.output, c.Labels(), kNoReduction, c.options.delta));
  }
};

struct LogCosh {
  static LossType Type() { return OfElements<LogCosh>("log_cosh", {"logcosh", "log_cosh_error"}); }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    const float d = p - y;
    // Keras' form takes infinities from each other.
    if (d == -std::numeric_limits<float>::infinity()) return {d - d, -1.0F};
    const float size = std::abs(d);
    constexpr float kLog2 = 0.69314718055994531F;
    return {size + std::log1p(std::exp(-2.0F * size)) - kLog2, std::tanh(d)};
  }
  // x + softplus(-2x) - log 2, which does not overflow.
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto x = sub(c.output, c.Labels());
    return c.Mean(sub(add(x, softplus(mul(x, -2.0))), std::log(2.0)));
  }
};

}  // namespace loss_rows
}  // namespace hopper
