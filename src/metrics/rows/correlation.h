// How alike an example's outputs and labels are.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// Without the loss's minus.
struct CosineSimilarity : OfLoss {
  static MetricType Type() {
    const auto loss = [](const MetricParams&, int64_t, bool) {
      return MetricLoss{LossKind::kCosineSimilarity, {}};
    };
    MetricType type = Mean(loss, Direction::kUp);
    type.negative_loss = true;
    return Named(type, {}, {"cosine_similarity", "cosine_proximity"});
  }
};

// Of the labels y and probabilities p of a position.
struct Moments {
  Moments(const OutputRows& rows, int64_t position) {
    const float* p = rows.Row(position);
    const auto n = static_cast<double>(rows.width);
    for (int64_t j = 0; j < rows.width; ++j) {
      y_mean += static_cast<double>(rows.Label(position, j));
      p_mean += static_cast<double>(p[j]);
    }
    y_mean /= n;
    p_mean /= n;
    for (int64_t j = 0; j < rows.width; ++j) {
      const double y_off = static_cast<double>(rows.Label(position, j)) - y_mean;
      const double p_off = static_cast<double>(p[j]) - p_mean;
      y_variance += y_off * y_off / n;
      p_variance += p_off * p_off / n;
      covariance += y_off * p_off / n;
    }
  }
  double y_mean = 0.0, p_mean = 0.0, y_variance = 0.0, p_variance = 0.0, covariance = 0.0;
};

inline bool AlwaysOfProbabilities(const MetricParams& /*metric*/, const OutputRows& /*rows*/) {
  return true;
}

template <typename Tensor>
Tensor LastMean(const Tensor& x) {
  return mean(x, {-1}, true);
}

// keras.metrics.pearson_correlation: NaN where labels or outputs are all alike.
struct PearsonCorrelation : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.several_outputs = true;
    type.of_probabilities = AlwaysOfProbabilities;
    return Named(type, {"pearson_correlation"});
  }
  static double Value(const MetricParams& /*metric*/, const OutputRows& rows, int64_t position) {
    const Moments of(rows, position);
    return of.covariance / std::sqrt(of.y_variance * of.p_variance);
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
    type.of_probabilities = AlwaysOfProbabilities;
    return Named(type, {"concordance_correlation"});
  }
  static double Value(const MetricParams& /*metric*/, const OutputRows& rows, int64_t position) {
    const Moments of(rows, position);
    const double apart = of.y_mean - of.p_mean;
    return 2.0 * of.covariance / (of.y_variance + of.p_variance + apart * apart + kKerasEpsilon);
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
