// How alike an example's outputs and labels are.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// Without the loss's minus.
struct CosineSimilarity : OfExamples {
  static MetricType Type() {
    return Named(Mean(Direction::kUp), {}, {"cosine_similarity", "cosine_proximity"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Loss(LossKind::kCosineSimilarity, {}).neg();
  }
};

template <typename Tensor>
Tensor LastMean(const Tensor& x) {
  return mean(x, {-1}, true);
}

// keras.metrics.pearson_correlation: NaN where labels or outputs are all alike.
struct PearsonCorrelation : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.several_outputs = true;
    return Named(type, {"pearson_correlation"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto normalize = [](const auto& x) {
      const auto centered = sub(x, LastMean(x));
      return div(centered, LastMean(square(centered)).sqrt());
    };
    return c.Mean(mean(mul(normalize(c.Labels()), normalize(c.Probabilities())), {-1}));
  }
};

// keras.metrics.concordance_correlation, which takes the outputs' mean from the labels too.
struct ConcordanceCorrelation : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.several_outputs = true;
    return Named(type, {"concordance_correlation"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto p = c.Probabilities(), y = c.Labels();
    const auto p_mean = LastMean(p), y_mean = LastMean(y);
    const auto variance = [](const auto& x, const auto& x_mean) {
      return LastMean(square(sub(x, x_mean)));
    };
    const auto norm =
        add(add(variance(y, y_mean), variance(p, p_mean)), square(sub(y_mean, p_mean)));
    const auto shared = mul(sub(y, p_mean), sub(p, p_mean));
    return c.Mean(mean(div(mul(shared, 2.0), add(norm, kKerasEpsilon)), {-1}));
  }
};

}  // namespace metric_rows
}  // namespace hopper
