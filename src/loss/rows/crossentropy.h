// Crossentropies.
#pragma once

#include "loss/rows/rows.h"

namespace hopper {
namespace loss_rows {

// Gradients by outputs that are divided by their sum, from those by the quotients.
inline void ThroughNormalization(const float* p, float sum, int64_t n, float* gradient) {
  float dot = 0.0F;
  for (int64_t j = 0; j < n; ++j) dot += gradient[j] * (p[j] / sum);
  for (int64_t j = 0; j < n; ++j) gradient[j] = (gradient[j] - dot) / sum;
}

// exp(x - max) into `out`, its sum and the maximum.
inline Pair ExpOf(const float* x, int64_t n, float* out) {
  float most = x[0];
  for (int64_t j = 1; j < n; ++j) most = x[j] > most || x[j] != x[j] ? x[j] : most;
  for (int64_t j = 0; j < n; ++j) out[j] = std::exp(x[j] - most);
  return {SumOf(out, n), most};
}

// The derivative is TensorFlow's, softmax - labels, also for labels that do not add up to one.
inline float CrossentropyOfLogits(const float* x, const float* y, int64_t n, float* gradient) {
  const auto [sum, most] = ExpOf(x, n, gradient);
  const float log_sum = std::log(sum) + most;
  float loss = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    if (y[j] != 0.0F) loss += y[j] * (log_sum - x[j]);
    gradient[j] = gradient[j] / sum - y[j];
  }
  return loss;
}

// Losses by the kernels: LossType::logit_rows. The kernel's exp() is another one than `row` has.
inline void CrossentropyOfRows(const Kernels& kernels, const LogitRows& rows) {
  const int64_t n = rows.width;
  kernels.softmax_log_sum(rows.logits, rows.rows, n, rows.gradient, rows.losses);
  for (int64_t i = 0; i < rows.rows; ++i) {
    const float* x = rows.logits + i * n;
    const float log_sum = rows.losses[i];
    float* gradient = rows.gradient + i * n;
    if (rows.classes != nullptr) {
      const int64_t index = CheckedClass(rows.classes[i], n);
      rows.losses[i] = log_sum - x[index];
      gradient[index] -= 1.0F;
    } else {
      const float* y = rows.labels + i * n;
      float sum = 0.0F;
      for (int64_t j = 0; j < n; ++j) {
        sum += y[j] * (log_sum - x[j]);
        gradient[j] -= y[j];
      }
      rows.losses[i] = sum;
    }
    if (rows.factors == nullptr) continue;
    const float factor = rows.factors[i];
    for (int64_t j = 0; j < n; ++j) gradient[j] *= factor;
  }
}

inline void AddLogits(LossOptions* options, ArgumentList* arguments) {
  arguments->AddBool("from_logits", &options->from_logits);
  arguments->AddNumber("label_smoothing", kUnit, &options->label_smoothing);
}

// Tensors of probabilities between the epsilons.
template <typename Tensor>
Tensor ClampProbabilities(const Tensor& p) {
  return clamp(p, kKerasEpsilon, 1.0 - kKerasEpsilon);
}

// Moves labels towards all being alike.
template <typename Tensor>
Tensor Smooth(const Tensor& labels, double smoothing, double towards) {
  if (smoothing == 0.0) return labels;
  return add(mul(labels, 1.0 - smoothing), smoothing * towards);
}

struct CategoricalCrossentropy {
  static LossType Type() {
    LossType type;
    type.name = "categorical_crossentropy";
    type.of_classes = true;
    type.of_probabilities = true;
    type.arguments = AddLogits;
    type.categorical = true;
    type.from_logits = true;
    type.row = Row;
    type.logit_rows = CrossentropyOfRows;
    return type;
  }
  static float Row(const LossOptions& options, bool logits, const float* p, const float* y,
                   int64_t n, float* gradient) {
    if (logits || options.from_logits) return CrossentropyOfLogits(p, y, n, gradient);
    const float sum = SumOf(p, n);
    float loss = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      const float q = p[j] / sum;
      loss -= y[j] * std::log(Clamp(q));
      gradient[j] = Inside(q) ? -y[j] / q : 0.0F;
    }
    ThroughNormalization(p, sum, n, gradient);
    return loss;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const double smoothing = c.options.label_smoothing;
    const auto log_probabilities =
        c.from_logits ? log_softmax(c.output, -1)
                      : log(ClampProbabilities(div(c.output, sum(c.output, {-1}, true))));
    if (c.HasClasses() && smoothing == 0.0) return c.ClassLoss(log_probabilities);
    const auto y = Smooth(c.Labels(), smoothing, 1.0 / static_cast<double>(c.output.size(-1)));
    auto loss = sum(mul(log_probabilities, y), {-1}).neg();
    if (c.from_logits) loss = c.WithTensorFlowsGradient(loss, y);
    return c.Mean(loss);
  }
};

struct SparseCategoricalCrossentropy {
  static LossType Type() {
    LossType type;
    type.name = "sparse_categorical_crossentropy";
    type.of_classes = true;
    type.arguments = [](LossOptions* options, ArgumentList* arguments) {
      arguments->AddBool("from_logits", &options->from_logits);
      arguments->AddInteger("ignore_class", std::numeric_limits<int>::min(),
                            &options->ignore_class);
    };
    type.categorical = true;
    type.class_numbers = true;
    type.from_logits = true;
    type.row = Row;
    type.logit_rows = CrossentropyOfRows;
    return type;
  }
  static float Row(const LossOptions& options, bool logits, const float* p, const float* y,
                   int64_t n, float* gradient) {
    if (logits || options.from_logits) return CrossentropyOfLogits(p, y, n, gradient);
    float sum = 0.0F;
    for (int64_t j = 0; j < n; ++j) sum += Clamp(p[j]);
    float loss = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      const float q = Clamp(p[j]);
      if (y[j] != 0.0F) loss += y[j] * (std::log(sum) - std::log(q));
      gradient[j] = Inside(p[j]) ? 1.0F / sum - y[j] / q : 0.0F;
    }
    return loss;
  }
  // Not renormalized before clipping but after: the way of Keras on TensorFlow.
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.ClassLoss(
        log_softmax(c.from_logits ? c.output : log(ClampProbabilities(c.output)), -1));
  }
};

struct BinaryCrossentropy {
  static LossType Type() {
    LossType type;
    type.name = "binary_crossentropy";
    type.of_classes = true;
    type.of_probabilities = true;
    type.aliases = {"bce"};
    type.arguments = AddLogits;
    type.from_logits = true;
    type.smooths_to_half = true;
    type.row = Row;
    type.elements = ElementsOfLogits;
    return type;
  }
  static void ElementsOfLogits(const Kernels& kernels, const float* x, const float* y, int64_t n,
                               float* losses, float* derivatives) {
    kernels.sigmoid_loss(x, y, n, losses, derivatives);
  }
  // Of a probability, whose derivative ends at the clamps.
  static Pair OfProbability(float p, float y) {
    const float q = Clamp(p);
    const float loss = -(y * std::log(q) + (1.0F - y) * std::log(1.0F - q));
    return {loss, Inside(p) ? (1.0F - y) / (1.0F - q) - y / q : 0.0F};
  }
  static Pair OfLogit(float x, float y) {
    return {std::max(x, 0.0F) - x * y + std::log1p(std::exp(-std::abs(x))), Sigmoid(x) - y};
  }
  static float Row(const LossOptions& options, bool logits, const float* p, const float* y,
                   int64_t n, float* gradient) {
    return logits || options.from_logits ? MeanOf(p, y, n, gradient, OfLogit)
                                         : MeanOf(p, y, n, gradient, OfProbability);
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = Smooth(c.Labels(), c.options.label_smoothing, 0.5);
    if (c.from_logits) {
      return c.Mean(binary_cross_entropy_with_logits(c.output, y, {}, {}, kNoReduction));
    }
    const auto p = ClampProbabilities(c.output);
    return c.Mean(mul(y, log(p)).add_(mul(rsub(y, 1.0), log(rsub(p, 1.0)))).neg());
  }
};

inline void AddFocal(LossOptions* options, ArgumentList* arguments) {
  arguments->AddNumber("alpha", kUnit, &options->alpha);
  arguments->AddNumber("gamma", kNotNegative, &options->gamma);
  AddLogits(options, arguments);
}

// Crossentropy, weighed by a power of what is below one in the probability of the label. The
// crossentropy is computed from the inputs of the sigmoid, the weight from what it gives.
struct BinaryFocalCrossentropy {
  static LossType Type() {
    LossType type;
    type.name = "binary_focal_crossentropy";
    type.of_classes = true;
    type.of_probabilities = true;
    type.arguments = [](LossOptions* options, ArgumentList* arguments) {
      arguments->AddBool("apply_class_balancing", &options->class_balancing);
      AddFocal(options, arguments);
    };
    type.from_logits = true;
    type.of_sigmoid = true;
    type.smooths_to_half = true;
    type.row = Row;
    return type;
  }
  static Pair Element(const LossOptions& options, bool logits, float output, float y) {
    const float p = logits ? Sigmoid(output) : output;
    const auto gamma = static_cast<float>(options.gamma);
    const auto alpha = static_cast<float>(options.alpha);
    const Pair crossentropy =
        logits ? BinaryCrossentropy::OfLogit(output, y) : BinaryCrossentropy::OfProbability(p, y);
    const float wrong = 1.0F - (y * p + (1.0F - y) * (1.0F - p));
    const float weight = std::pow(wrong, gamma);
    const float weight_derivative =  // infinite where nothing is wrong and gamma below 1
        gamma == 0.0F || wrong == 0.0F ? 0.0F
                                       : gamma * std::pow(wrong, gamma - 1.0F) * (1.0F - 2.0F * y);
    const float balance = options.class_balancing ? y * alpha + (1.0F - y) * (1.0F - alpha) : 1.0F;
    const float derivative = weight * crossentropy.second + weight_derivative * crossentropy.first *
                                                                (logits ? p * (1.0F - p) : 1.0F);
    return {balance * weight * crossentropy.first, balance * derivative};
  }
  static float Row(const LossOptions& options, bool logits, const float* p, const float* y,
                   int64_t n, float* gradient) {
    return MeanOf(p, y, n, gradient, [&](float a, float b) {
      return Element(options, logits || options.from_logits, a, b);
    });
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y = Smooth(c.Labels(), c.options.label_smoothing, 0.5);
    const auto p = c.from_logits ? sigmoid(c.output) : c.output;
    const auto clamped = ClampProbabilities(p);
    const auto crossentropy =
        c.from_logits ? binary_cross_entropy_with_logits(c.output, y, {}, {}, kNoReduction)
                      : add(mul(y, log(clamped)), mul(rsub(y, 1.0), log(rsub(clamped, 1.0)))).neg();
    const auto wrong = rsub(add(mul(y, p), mul(rsub(y, 1.0), rsub(p, 1.0))), 1.0);
    // Where nothing is wrong and gamma is below 1 the power's derivative would be infinite.
    const auto nothing = wrong.eq(0.0);
    auto weight = pow(add(wrong, nothing), c.options.gamma);
    if (c.options.gamma != 0.0) weight = mul(weight, nothing.logical_not());
    auto loss = mul(weight, crossentropy);
    if (c.options.class_balancing) {
      const double alpha = c.options.alpha;
      loss = mul(add(mul(y, alpha), mul(rsub(y, 1.0), 1.0 - alpha)), loss);
    }
    return c.Mean(loss);
  }
};

struct CategoricalFocalCrossentropy {
  static LossType Type() {
    LossType type;
    type.name = "categorical_focal_crossentropy";
    type.of_classes = true;
    type.of_probabilities = true;
    type.arguments = AddFocal;
    type.row = Row;
    return type;
  }
  static float Row(const LossOptions& options, bool /*logits*/, const float* output, const float* y,
                   int64_t n, float* gradient) {
    const auto gamma = static_cast<float>(options.gamma);
    const auto alpha = static_cast<float>(options.alpha);
    const bool logits = options.from_logits;
    float most = 0.0F;
    float sum = 0.0F;
    if (logits) {
      std::tie(sum, most) = ExpOf(output, n, gradient);
    } else {
      sum = SumOf(output, n);
    }
    const auto share = [&](int64_t j) {
      return (logits ? std::exp(output[j] - most) : output[j]) / sum;
    };
    float loss = 0.0F, dot = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      const float p = share(j);
      const float q = Clamp(p);
      const float weight = std::pow(1.0F - q, gamma);
      loss -= alpha * weight * y[j] * std::log(q);
      const float less = gamma == 0.0F ? 0.0F : gamma * std::pow(1.0F - q, gamma - 1.0F);
      gradient[j] = Inside(p) ? alpha * y[j] * (less * std::log(q) - weight / q) : 0.0F;
      dot += gradient[j] * p;
    }
    for (int64_t j = 0; j < n; ++j) {
      gradient[j] = (gradient[j] - dot) * (logits ? share(j) : 1.0F / sum);
    }
    return loss;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto y =
        Smooth(c.Labels(), c.options.label_smoothing, 1.0 / static_cast<double>(c.output.size(-1)));
    const auto p = ClampProbabilities(
        c.options.from_logits ? softmax(c.output, -1) : div(c.output, sum(c.output, {-1}, true)));
    const auto weight = mul(pow(rsub(p, 1.0), c.options.gamma), c.options.alpha);
    return c.Mean(sum(mul(weight, mul(y, log(p)).neg()), {-1}));
  }
};

// (1 - p^q) / q of the probability of the class.
struct GeneralizedCrossentropy {
  static LossType Type() {
    LossType type;
    type.name = "categorical_generalized_cross_entropy";
    type.of_classes = true;
    type.arguments = [](LossOptions* options, ArgumentList* arguments) {
      arguments->AddNumber("q", kInsideUnit, &options->q);
    };
    type.categorical = true;
    type.class_numbers = true;
    type.row = Row;
    return type;
  }
  static float Row(const LossOptions& options, bool /*logits*/, const float* p, const float* y,
                   int64_t n, float* gradient) {
    const auto q = static_cast<float>(options.q);
    float loss = 0.0F;
    for (int64_t j = 0; j < n; ++j) {
      gradient[j] = 0.0F;
      if (y[j] == 0.0F) continue;
      loss += (1.0F - std::pow(p[j], q)) / q;
      gradient[j] = -std::pow(p[j], q - 1.0F);
    }
    return loss;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto index =
        c.Classes().reshape(c.output.sizes().slice(0, c.output.dim() - 1)).unsqueeze(-1);
    const auto p = gather(c.output, -1, index).squeeze(-1);
    return c.Mean(div(rsub(pow(p, c.options.q), 1.0), c.options.q));
  }
};

}  // namespace loss_rows
}  // namespace hopper
