// Kullback-Leibler divergence, Poisson, cosine similarity.
#pragma once

#include "loss/rows/rows.h"

namespace hopper {
namespace loss_rows {

struct KlDivergence {
  static LossType Type() {
    LossType type;
    type.name = "kl_divergence";
    type.of_probabilities = true;
    type.aliases = {"kld", "kullback_leibler_divergence"};
    type.row = Row;
    return type;
  }
  static float Row(const LossOptions& /*options*/, bool /*logits*/, const float* p, const float* y,
                   int64_t n, float* gradient) {
    float sum = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      const float label = std::min(std::max(y[j], kEpsilon), 1.0F);
      const float q = p[j] < kEpsilon ? kEpsilon : (p[j] > 1.0F ? 1.0F : p[j]);
      sum += label * std::log(label / q);
      gradient[j] = Inside(p[j], 1.0F) ? -label / q : 0.0F;
    }
    return sum;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = clamp(c.Labels(), kKerasEpsilon, 1.0);
    const auto p = clamp(c.output, kKerasEpsilon, 1.0);
    return c.Mean(sum(mul(y, log(div(y, p))), {-1}));
  }
};

struct Poisson {
  static LossType Type() {
    LossType type = OfElements<Poisson>("poisson");
    type.of_amounts = true;
    return type;
  }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    return {p - y * std::log(p + kEpsilon), 1.0F - y / (p + kEpsilon)};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(sub(c.output, mul(c.Labels(), log(add(c.output, kKerasEpsilon)))));
  }
};

struct CosineSimilarity {
  static LossType Type() {
    LossType type;
    type.name = "cosine_similarity";
    type.aliases = {"cosine_proximity"};
    type.row = Row;
    return type;
  }
  static float Row(const LossOptions& /*options*/, bool /*logits*/, const float* p, const float* y,
                   int64_t n, float* gradient) {
    constexpr float kLeast = 1e-14F;
    float labels = 0.0F, outputs = 0.0F, both = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      labels += y[j] * y[j];
      outputs += p[j] * p[j];
      both += y[j] * p[j];
    }
    const float label_size = std::sqrt(std::max(labels, kLeast));
    const float size = std::sqrt(outputs < kLeast ? kLeast : outputs);
    const float loss = -(both / label_size / size);
    for (int64_t j = 0; j < n; ++j) {
      const float along = outputs < kLeast ? 0.0F : loss * (p[j] / size) / size;
      gradient[j] = -(y[j] / label_size / size) - along;
    }
    return loss;
  }
  // Rows of length one; rows of zeros stay zero.
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto normalize = [](const auto& x) {
      return div(x, clamp_min(sum(square(x), {-1}, true), 1e-14).sqrt());
    };
    return c.Mean(sum(mul(normalize(c.Labels()), normalize(c.output)), {-1}).neg());
  }
};

}  // namespace loss_rows
}  // namespace hopper
