// What the losses' files share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/keras_epsilon.h"
#include "kernels/kernels.h"
#include "params/loss_type.h"

namespace hopper {
namespace loss_rows {

// ATen's Reduction::None.
constexpr int64_t kNoReduction = 0;
constexpr auto kEpsilon = static_cast<float>(kKerasEpsilon);
constexpr float kMost = 1.0F - kEpsilon;

// A value and its derivative.
using Pair = std::pair<float, float>;

inline float Sign(float x) { return static_cast<float>(x > 0.0F) - static_cast<float>(x < 0.0F); }
// Clamped between the epsilons, and whether a derivative goes through. NaN stays.
inline float Clamp(float p) { return p < kEpsilon ? kEpsilon : (p > kMost ? kMost : p); }
inline bool Inside(float p, float most = kMost) { return !(p < kEpsilon) && !(p > most); }

// A class that a row of `width` outputs has; throws for others.
inline int64_t CheckedClass(int64_t value, int64_t width) {
  if (value < 0 || value >= width) {
    throw Error(ErrorCode::kDataException, "class " + std::to_string(value) +
                                               " does not exist in an output of " +
                                               std::to_string(width) + " classes");
  }
  return value;
}

inline float Sigmoid(float x) {
  const float e = std::exp(-std::abs(x));
  return x < 0.0F ? e / (1.0F + e) : 1.0F / (1.0F + e);
}

inline float SumOf(const float* x, int64_t n) {
  float sum = 0.0F;
  for (int64_t j = 0; j < n; ++j) sum += x[j];
  return sum;
}

// A row's loss as the mean of each(p, y), a Pair.
template <typename F>
float MeanOf(const float* p, const float* y, int64_t n, float* gradient, const F& each) {
  const float share = 1.0F / static_cast<float>(n);
  float sum = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    const Pair one = each(p[j], y[j]);
    sum += one.first;
    gradient[j] = one.second * share;
  }
  return n == 1 ? sum : sum * share;
}

// LossType::row of a loss whose struct has Element(options, p, y).
template <typename L>
float RowOfElements(const LossOptions& options, bool /*logits*/, const float* p, const float* y,
                    int64_t n, float* gradient) {
  return MeanOf(p, y, n, gradient,
                [&options](float a, float b) { return L::Element(options, a, b); });
}

template <typename L>
LossType OfElements(const char* name, std::vector<std::string> aliases = {}) {
  LossType type;
  type.name = name;
  type.aliases = std::move(aliases);
  type.row = RowOfElements<L>;
  type.of_numbers = true;
  return type;
}

}  // namespace loss_rows
}  // namespace hopper
