// Hinges.
#pragma once

#include "loss/rows/rows.h"

namespace hopper {
namespace loss_rows {

template <bool kSquared>
struct AnyHinge {
  static LossType Type() {
    LossType type = OfElements<AnyHinge>(kSquared ? "squared_hinge" : "hinge");
    type.signed_labels = true;
    type.of_numbers = false;
    return type;
  }
  static Pair Element(const LossOptions& /*options*/, float p, float y) {
    const float h = 1.0F - y * p;
    if (h < 0.0F) return {0.0F, 0.0F};
    return kSquared ? Pair{h * h, -2.0F * h * y} : Pair{h, -y};
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto labels = c.Labels();
    const auto binary = mul(labels, rsub(labels, 1.0)).eq(0.0).all();
    const auto y = where(binary, sub(mul(labels, 2.0), 1.0), labels);
    const auto h = clamp_min(rsub(mul(y, c.output), 1.0), 0.0);
    return c.Mean(kSquared ? square(h) : h);
  }
};
using Hinge = AnyHinge<false>;
using SquaredHinge = AnyHinge<true>;

struct CategoricalHinge {
  static LossType Type() {
    LossType type;
    type.name = "categorical_hinge";
    type.row = Row;
    return type;
  }
  static float Row(const LossOptions& /*options*/, bool /*logits*/, const float* p, const float* y,
                   int64_t n, float* gradient) {
    float wanted = 0.0F, others = (1.0F - y[0]) * p[0];
    for (int64_t j = 0; j < n; ++j) {
      wanted += y[j] * p[j];
      others = std::max(others, (1.0F - y[j]) * p[j]);
    }
    const float loss = others - wanted + 1.0F;
    // Equal maxima share the derivative.
    float shared = 0.0F;
    for (int64_t j = 0; j < n; ++j) shared += (1.0F - y[j]) * p[j] == others ? 1.0F : 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      const float best = (1.0F - y[j]) * p[j] == others ? (1.0F - y[j]) / shared : 0.0F;
      gradient[j] = loss < 0.0F ? 0.0F : best - y[j];
    }
    return loss < 0.0F ? 0.0F : loss;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = c.Labels();
    const auto wanted = sum(mul(y, c.output), {-1});
    const auto others = amax(mul(rsub(y, 1.0), c.output), {-1});
    return c.Mean(clamp_min(add(sub(others, wanted), 1.0), 0.0));
  }
};

}  // namespace loss_rows
}  // namespace hopper
