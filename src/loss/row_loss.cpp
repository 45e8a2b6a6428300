#include "loss/row_loss.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace hopper {
namespace {

constexpr float kEpsilon = 1e-7F;  // keras.config.epsilon()
constexpr float kMost = 1.0F - kEpsilon;

// A value and its derivative.
using Pair = std::pair<float, float>;

float Sign(float x) { return static_cast<float>(x > 0.0F) - static_cast<float>(x < 0.0F); }
// Clamped between the epsilons, and whether a slope goes through. NaN stays.
float Clamp(float p) { return p < kEpsilon ? kEpsilon : (p > kMost ? kMost : p); }
bool Inside(float p, float most = kMost) { return !(p < kEpsilon) && !(p > most); }

float Sigmoid(float x) {
  const float e = std::exp(-std::abs(x));
  return x < 0.0F ? e / (1.0F + e) : 1.0F / (1.0F + e);
}

template <typename F>
float MeanOf(const float* p, const float* y, int64_t n, float* slopes, const F& each) {
  const float share = 1.0F / static_cast<float>(n);
  float sum = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    const Pair one = each(p[j], y[j]);
    sum += one.first;
    slopes[j] = one.second * share;
  }
  return n == 1 ? sum : sum * share;
}

Pair PercentageError(float p, float y) {
  const float size = std::max(std::abs(y), kEpsilon);
  return {100.0F * std::abs((y - p) / size), 100.0F * Sign(p - y) / size};
}

Pair LogarithmicError(float p, float y) {
  const float shifted = (p < kEpsilon ? kEpsilon : p) + 1.0F;
  const float d = std::log(shifted) - std::log(std::max(y, kEpsilon) + 1.0F);
  return {d * d, p < kEpsilon ? 0.0F : 2.0F * d / shifted};
}

Pair Huber(float p, float y, float delta) {
  const float d = p - y;
  const float size = std::abs(d);
  if (size < delta) return {0.5F * d * d, d};
  return {delta * (size - 0.5F * delta), delta * Sign(d)};
}

Pair LogCosh(float p, float y) {
  const float d = p - y;
  const float size = std::abs(d);
  constexpr float kLog2 = 0.69314718055994531F;
  return {size + std::log1p(std::exp(-2.0F * size)) - kLog2, std::tanh(d)};
}

Pair Hinge(float p, float y, bool squared) {
  const float h = 1.0F - y * p;
  if (h < 0.0F) return {0.0F, 0.0F};
  return squared ? Pair{h * h, -2.0F * h * y} : Pair{h, -y};
}

// Of a probability, whose slope ends at the clamps.
Pair BinaryCrossentropy(float p, float y) {
  const float q = Clamp(p);
  const float loss = -(y * std::log(q) + (1.0F - y) * std::log(1.0F - q));
  return {loss, Inside(p) ? (1.0F - y) / (1.0F - q) - y / q : 0.0F};
}

Pair BinaryCrossentropyOfLogit(float x, float y) {
  return {std::max(x, 0.0F) - x * y + std::log1p(std::exp(-std::abs(x))), Sigmoid(x) - y};
}

Pair BinaryFocal(float output, float y, const LossOptions& options) {
  const float p = options.from_logits ? Sigmoid(output) : output;
  const auto gamma = static_cast<float>(options.gamma);
  const auto alpha = static_cast<float>(options.alpha);
  const Pair crossentropy = BinaryCrossentropy(p, y);
  const float wrong = 1.0F - (y * p + (1.0F - y) * (1.0F - p));
  const float weight = std::pow(wrong, gamma);
  const float weight_slope =
      gamma == 0.0F ? 0.0F : gamma * std::pow(wrong, gamma - 1.0F) * (1.0F - 2.0F * y);
  const float balance = options.class_balancing ? y * alpha + (1.0F - y) * (1.0F - alpha) : 1.0F;
  const float slope = weight * crossentropy.second + weight_slope * crossentropy.first;
  return {balance * weight * crossentropy.first,
          balance * (options.from_logits ? slope * p * (1.0F - p) : slope)};
}

float CategoricalHinge(const float* p, const float* y, int64_t n, float* slopes) {
  float wanted = 0.0F, others = (1.0F - y[0]) * p[0];
  for (int64_t j = 0; j < n; ++j) {
    wanted += y[j] * p[j];
    others = std::max(others, (1.0F - y[j]) * p[j]);
  }
  const float loss = others - wanted + 1.0F;
  // Equal maxima share the slope.
  float shared = 0.0F;
  for (int64_t j = 0; j < n; ++j) shared += (1.0F - y[j]) * p[j] == others ? 1.0F : 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    const float best = (1.0F - y[j]) * p[j] == others ? (1.0F - y[j]) / shared : 0.0F;
    slopes[j] = loss < 0.0F ? 0.0F : best - y[j];
  }
  return loss < 0.0F ? 0.0F : loss;
}

float KlDivergence(const float* p, const float* y, int64_t n, float* slopes) {
  float sum = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    const float label = std::min(std::max(y[j], kEpsilon), 1.0F);
    const float q = p[j] < kEpsilon ? kEpsilon : (p[j] > 1.0F ? 1.0F : p[j]);
    sum += label * std::log(label / q);
    slopes[j] = Inside(p[j], 1.0F) ? -label / q : 0.0F;
  }
  return sum;
}

float CosineSimilarity(const float* p, const float* y, int64_t n, float* slopes) {
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
    slopes[j] = -(y[j] / label_size / size) - along;
  }
  return loss;
}

// Slopes by outputs that are divided by their sum, from those by the quotients.
void ThroughNormalization(const float* p, float sum, int64_t n, float* slopes) {
  float dot = 0.0F;
  for (int64_t j = 0; j < n; ++j) dot += slopes[j] * (p[j] / sum);
  for (int64_t j = 0; j < n; ++j) slopes[j] = (slopes[j] - dot) / sum;
}

float SumOf(const float* x, int64_t n) {
  float sum = 0.0F;
  for (int64_t j = 0; j < n; ++j) sum += x[j];
  return sum;
}

// exp(x - max) into `out`, its sum and the maximum.
Pair ExpOf(const float* x, int64_t n, float* out) {
  float most = x[0];
  for (int64_t j = 1; j < n; ++j) most = x[j] > most || x[j] != x[j] ? x[j] : most;
  for (int64_t j = 0; j < n; ++j) out[j] = std::exp(x[j] - most);
  return {SumOf(out, n), most};
}

// The slope is TensorFlow's, softmax - labels, also for labels that do not add up to one.
float CrossentropyOfLogits(const float* x, const float* y, int64_t n, float* slopes) {
  const auto [sum, most] = ExpOf(x, n, slopes);
  const float log_sum = std::log(sum) + most;
  float loss = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    if (y[j] != 0.0F) loss += y[j] * (log_sum - x[j]);
    slopes[j] = slopes[j] / sum - y[j];
  }
  return loss;
}

float CategoricalCrossentropy(const float* p, const float* y, int64_t n, float* slopes) {
  const float sum = SumOf(p, n);
  float loss = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    const float q = p[j] / sum;
    loss -= y[j] * std::log(Clamp(q));
    slopes[j] = Inside(q) ? -y[j] / q : 0.0F;
  }
  ThroughNormalization(p, sum, n, slopes);
  return loss;
}

float SparseCrossentropy(const float* p, const float* y, int64_t n, float* slopes) {
  float sum = 0.0F;
  for (int64_t j = 0; j < n; ++j) sum += Clamp(p[j]);
  float loss = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    const float q = Clamp(p[j]);
    if (y[j] != 0.0F) loss += y[j] * (std::log(sum) - std::log(q));
    slopes[j] = Inside(p[j]) ? 1.0F / sum - y[j] / q : 0.0F;
  }
  return loss;
}

float CategoricalFocal(const float* output, const float* y, int64_t n, const LossOptions& options,
                       float* slopes) {
  const auto gamma = static_cast<float>(options.gamma);
  const auto alpha = static_cast<float>(options.alpha);
  const bool logits = options.from_logits;
  float most = 0.0F;
  float sum = 0.0F;
  if (logits) {
    std::tie(sum, most) = ExpOf(output, n, slopes);
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
    slopes[j] = Inside(p) ? alpha * y[j] * (less * std::log(q) - weight / q) : 0.0F;
    dot += slopes[j] * p;
  }
  for (int64_t j = 0; j < n; ++j) slopes[j] = (slopes[j] - dot) * (logits ? share(j) : 1.0F / sum);
  return loss;
}

float GeneralizedCrossentropy(const float* p, const float* y, int64_t n, float q, float* slopes) {
  float loss = 0.0F;
  for (int64_t j = 0; j < n; ++j) {
    slopes[j] = 0.0F;
    if (y[j] == 0.0F) continue;
    loss += (1.0F - std::pow(p[j], q)) / q;
    slopes[j] = -std::pow(p[j], q - 1.0F);
  }
  return loss;
}

}  // namespace

bool HasRowLoss(LossKind loss) {
  return loss != LossKind::kDice && loss != LossKind::kTversky && loss != LossKind::kExpression;
}

float RowLoss(LossKind loss, const LossOptions& options, bool logits, const float* p,
              const float* y, int64_t n, float* slopes) {
  const bool from_logits = logits || options.from_logits;
  const auto mean = [&](const auto& each) { return MeanOf(p, y, n, slopes, each); };
  switch (loss) {
    case LossKind::kCategoricalCrossentropy:
      return from_logits ? CrossentropyOfLogits(p, y, n, slopes)
                         : CategoricalCrossentropy(p, y, n, slopes);
    case LossKind::kSparseCategoricalCrossentropy:
      return from_logits ? CrossentropyOfLogits(p, y, n, slopes)
                         : SparseCrossentropy(p, y, n, slopes);
    case LossKind::kBinaryCrossentropy:
      return from_logits ? mean(BinaryCrossentropyOfLogit) : mean(BinaryCrossentropy);
    case LossKind::kMeanSquaredError:
      return mean([](float a, float b) { return Pair{(a - b) * (a - b), 2.0F * (a - b)}; });
    case LossKind::kMeanAbsoluteError:
      return mean([](float a, float b) { return Pair{std::abs(a - b), Sign(a - b)}; });
    case LossKind::kMeanAbsolutePercentageError:
      return mean(PercentageError);
    case LossKind::kMeanSquaredLogarithmicError:
      return mean(LogarithmicError);
    case LossKind::kHuber:
      return mean([delta = static_cast<float>(options.delta)](float a, float b) {
        return Huber(a, b, delta);
      });
    case LossKind::kLogCosh:
      return mean(LogCosh);
    case LossKind::kHinge:
      return mean([](float a, float b) { return Hinge(a, b, false); });
    case LossKind::kSquaredHinge:
      return mean([](float a, float b) { return Hinge(a, b, true); });
    case LossKind::kCategoricalHinge:
      return CategoricalHinge(p, y, n, slopes);
    case LossKind::kKlDivergence:
      return KlDivergence(p, y, n, slopes);
    case LossKind::kPoisson:
      return mean([](float a, float b) {
        return Pair{a - b * std::log(a + kEpsilon), 1.0F - b / (a + kEpsilon)};
      });
    case LossKind::kCosineSimilarity:
      return CosineSimilarity(p, y, n, slopes);
    case LossKind::kBinaryFocalCrossentropy:
      return mean([&options](float a, float b) { return BinaryFocal(a, b, options); });
    case LossKind::kCategoricalFocalCrossentropy:
      return CategoricalFocal(p, y, n, options, slopes);
    case LossKind::kGeneralizedCrossentropy:
      return GeneralizedCrossentropy(p, y, n, static_cast<float>(options.q), slopes);
    case LossKind::kDice:
    case LossKind::kTversky:
    case LossKind::kExpression:
      break;
  }
  throw Error(ErrorCode::kInternal, "a loss without rows");
}

}  // namespace hopper
