// The pinball loss of quantile regression: sklearn.metrics.mean_pinball_loss.
#pragma once

#include "loss/rows/rows.h"

namespace hopper {
namespace loss_rows {

// alpha * (y - p) above the output, (1 - alpha) * (p - y) below; the output of the least loss is
// the labels' quantile alpha.
struct Pinball {
  static LossType Type() {
    LossType type = OfElements<Pinball>("pinball", {"pinball_loss", "mean_pinball_loss"});
    type.arguments = [](LossOptions* options, ArgumentList* arguments) {
      options->alpha = 0.5;
      arguments->AddNumber("alpha", kUnit, &options->alpha);
    };
    return type;
  }
  static Pair Element(const LossOptions& options, float p, float y) {
    const auto alpha = static_cast<float>(options.alpha);
    const float d = y - p;
    if (d > 0.0F) return {alpha * d, -alpha};
    if (d < 0.0F) return {(alpha - 1.0F) * d, 1.0F - alpha};
    return {d, d + 1.0F - 2.0F * alpha};  // 0 or NaN
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const double alpha = c.options.alpha;
    const auto d = sub(c.Labels(), c.output);
    const auto above = clamp_min(d, 0.0), below = clamp_min(d.neg(), 0.0);
    return c.Mean(add(mul(above, alpha), mul(below, 1.0 - alpha)));
  }
};

}  // namespace loss_rows
}  // namespace hopper
