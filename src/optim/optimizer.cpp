#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bf16.h"
#include "optim/learning_rate.h"
#include "optim/step_scalars.h"
#include "optim/update_kernels.h"

namespace hopper {
namespace {

template <typename Kernel>
void RunBaseline(const StepArgs& args) {
  Kernel::Run(args);
}

#if defined(__x86_64__)
template <typename Kernel>
__attribute__((target("avx2"))) void RunAvx2(const StepArgs& args) {
  Kernel::Run(args);
}
#endif

template <typename Kernel>
void Run(const StepArgs& args) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return RunAvx2<Kernel>(args);
#endif
  RunBaseline<Kernel>(args);
}

using KernelFunction = void (*)(const StepArgs&);

KernelFunction ChooseKernel(const OptimizerParams& optimizer) {
  const bool momentum = optimizer.momentum != 0.0;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      if (!momentum) return Run<SgdKernel>;
      return optimizer.nesterov ? Run<MomentumKernel<true>> : Run<MomentumKernel<false>>;
    case OptimizerKind::kRmsprop:
      if (optimizer.centered) {
        return momentum ? Run<RmspropKernel<true, true>> : Run<RmspropKernel<true, false>>;
      }
      return momentum ? Run<RmspropKernel<false, true>> : Run<RmspropKernel<false, false>>;
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return optimizer.amsgrad ? Run<AdamKernel<true>> : Run<AdamKernel<false>>;
    case OptimizerKind::kAdagrad:
      return Run<AdagradKernel>;
    case OptimizerKind::kAdadelta:
      return Run<AdadeltaKernel>;
    case OptimizerKind::kAdamax:
      return Run<AdamaxKernel>;
    case OptimizerKind::kNadam:
      return Run<NadamKernel>;
    case OptimizerKind::kFtrl:
      return optimizer.learning_rate_power == -0.5 ? Run<FtrlKernel<true>> : Run<FtrlKernel<false>>;
    case OptimizerKind::kLion:
      return Run<LionKernel>;
  }
  return Run<SgdKernel>;
}

// Product of 1 - 0.96^k / 2 for k = 1 to t. It stands still after some 900 factors.
double NadamProduct(int64_t t) {
  static const std::vector<double> products = [] {
    std::vector<double> values{1.0};
    for (int k = 1; k <= 1024; ++k) {
      values.push_back(values.back() * (1.0 - 0.5 * std::pow(0.96, k)));
    }
    return values;
  }();
  return products[static_cast<size_t>(std::min<int64_t>(t, 1024))];
}

// The momentum schedule of Nadam, a function of the step counter: Keras keeps the product as a
// variable, which would have to travel with the model.
void SetNadamScalars(const OptimizerParams& optimizer, int64_t t, StepArgs* args) {
  const auto momentum = [&](int64_t at) {
    return static_cast<float>(optimizer.beta_1) *
           (1.0F - 0.5F * std::pow(0.96F, static_cast<float>(at)));
  };
  const double product = std::pow(optimizer.beta_1, static_cast<double>(t)) * NadamProduct(t);
  const float next = momentum(t + 1);
  args->c = next;
  args->d = 1.0F - static_cast<float>(product) * next;
  args->e = 1.0F - momentum(t);
  args->f = 1.0F - static_cast<float>(product);
  args->h = 1.0F - std::pow(static_cast<float>(optimizer.beta_2), static_cast<float>(t));
}

// Sum in float64, in sixteen interleaved parts: the compiler may use vectors of any width that
// divides sixteen, and the result does not depend on which.
template <typename Term>
double SumOf(const float* x, int64_t n, Term term) {
  constexpr int kParts = 16;
  double parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] += term(static_cast<double>(x[i + j]));
  }
  for (int j = 0; i < n; ++i, ++j) parts[j] += term(static_cast<double>(x[i]));
  double sum = 0.0;
  for (double part : parts) sum += part;
  return sum;
}

double SumOfSquares(const float* x, int64_t n) {
  return SumOf(x, n, [](double v) { return v * v; });
}

void AddRegularization(const TrainableSpan& span, const float* __restrict w, float* __restrict g) {
  if (span.l2 != 0.0) {
    const float factor = static_cast<float>(2.0 * span.l2);
    for (int64_t i = 0; i < span.size; ++i) g[i] += factor * w[i];
  }
  if (span.l1 != 0.0) {
    const float l1 = static_cast<float>(span.l1);
    for (int64_t i = 0; i < span.size; ++i) {
      g[i] += w[i] > 0.0F ? l1 : (w[i] < 0.0F ? -l1 : 0.0F);
    }
  }
}

// Keras' clip_by_global_norm: a NaN or infinite norm makes everything NaN, which the caller then
// sees in the weights.
void ClipTogether(float limit, const std::vector<TrainableSpan>& spans, float* gradients) {
  double squares = 0.0;
  for (const TrainableSpan& span : spans)
    squares += SumOfSquares(gradients + span.offset, span.size);
  const float norm = std::sqrt(static_cast<float>(squares));
  const float scale = limit * std::min(1.0F / norm, 1.0F / limit) + (norm - norm);
  for (const TrainableSpan& span : spans) {
    float* __restrict g = gradients + span.offset;
    for (int64_t i = 0; i < span.size; ++i) g[i] *= scale;
  }
}

void ClipNorm(float limit, int64_t size, float* __restrict g) {
  const float norm = std::sqrt(static_cast<float>(SumOfSquares(g, size)));
  if (norm <= limit) return;  // not when it is NaN, which the caller then sees in the weights
  for (int64_t i = 0; i < size; ++i) g[i] = g[i] * limit / norm;
}

void ClipValues(float limit, int64_t size, float* __restrict g) {
  for (int64_t i = 0; i < size; ++i) {
    const float v = g[i];  // the comparisons keep NaN
    g[i] = v > limit ? limit : (v < -limit ? -limit : v);
  }
}

void DecayWeights(float decay, float rate, int64_t size, float* __restrict w) {
  for (int64_t i = 0; i < size; ++i) w[i] -= w[i] * decay * rate;
}

// Moves the average towards the weights; after the first step it equals them.
void UpdateAverage(const OptimizerParams& optimizer, int64_t step, int64_t size,
                   float* __restrict w, float* __restrict average) {
  const float keep = step == 0 ? 0.0F : static_cast<float>(optimizer.ema_momentum);
  const float take = 1.0F - keep;
  for (int64_t i = 0; i < size; ++i) average[i] = keep * average[i] + take * w[i];
  const int64_t frequency = optimizer.ema_overwrite_frequency;
  if (frequency > 0 && (step + 1) % frequency == 0) std::copy_n(average, size, w);
}

// Weights of one piece of Update::Run().
constexpr int64_t kShadowPiece = 2048;

void WriteShadow(const float* __restrict w, int64_t size, uint16_t* __restrict shadow) {
  for (int64_t i = 0; i < size; ++i) shadow[i] = ToBf16(w[i]);
}

// One step's part that treats every weight by itself: whoever computes it, the bits are the same.
struct Update {
  const OptimizerParams& optimizer;
  int64_t step;
  KernelFunction kernel;
  int n_slots;
  bool regularizes;  // the gradients still lack the regularizers' part
  float rate;
  StepArgs scalars;
  float* params;
  float* gradients;
  float* slots;
  int64_t slot_size;
  uint16_t* shadow;

  // The weights first .. last - 1 of a span.
  void Run(const TrainableSpan& span, int64_t first, int64_t last) const {
    TrainableSpan part = span;
    part.size = last - first;
    float* w = params + span.offset + first;
    float* g = gradients + span.offset + first;
    if (regularizes) AddRegularization(part, w, g);
    if (!optimizer.global_clipnorm && optimizer.clipvalue && *optimizer.clipvalue > 0.0) {
      ClipValues(static_cast<float>(*optimizer.clipvalue), part.size, g);
    }
    if (optimizer.weight_decay != 0.0) {
      DecayWeights(static_cast<float>(optimizer.weight_decay), rate, part.size, w);
    }
    StepArgs args = scalars;
    args.w = w;
    args.g = g;
    float* slot = slots == nullptr ? nullptr : slots + span.slot_offset + first;
    if (n_slots > 0) args.s0 = slot;
    if (n_slots > 1) args.s1 = slot + slot_size;
    if (n_slots > 2) args.s2 = slot + 2 * slot_size;
    const bool accumulates =
        optimizer.kind == OptimizerKind::kAdagrad || optimizer.kind == OptimizerKind::kFtrl;
    if (accumulates && step == 0) {
      std::fill_n(args.s0, part.size, static_cast<float>(optimizer.initial_accumulator_value));
    }
    // With a shadow in pieces, so that it is written while they are in the cache.
    const int64_t piece = shadow == nullptr ? part.size : kShadowPiece;
    for (int64_t at = 0; at < part.size; at += piece) {
      args.size = std::min(piece, part.size - at);
      kernel(args);
      if (optimizer.use_ema) {
        UpdateAverage(optimizer, step, args.size, args.w, slot + n_slots * slot_size + at);
      }
      if (shadow == nullptr) break;
      WriteShadow(args.w, args.size, shadow + span.offset + first + at);
      args.w += args.size;
      args.g += args.size;
      if (n_slots > 0) args.s0 += args.size;
      if (n_slots > 1) args.s1 += args.size;
      if (n_slots > 2) args.s2 += args.size;
    }
  }
};

// What a weight's update takes, in the operations of RunShares(): memory is what it waits for.
constexpr double kUpdateWork = 16.0;

}  // namespace

StepArgs StepScalars(const OptimizerParams& optimizer, int64_t step) {
  StepArgs args;
  args.rate = LearningRate(optimizer, step);
  args.momentum = static_cast<float>(optimizer.momentum);
  args.epsilon = static_cast<float>(optimizer.epsilon);
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      break;
    case OptimizerKind::kRmsprop:
    case OptimizerKind::kAdadelta:
      args.a = static_cast<float>(optimizer.rho);
      args.b = static_cast<float>(1.0 - optimizer.rho);
      break;
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW: {
      args.a = static_cast<float>(1.0 - optimizer.beta_1);
      args.b = static_cast<float>(1.0 - optimizer.beta_2);
      const float t = static_cast<float>(step + 1);
      const float power_1 = std::pow(static_cast<float>(optimizer.beta_1), t);
      const float power_2 = std::pow(static_cast<float>(optimizer.beta_2), t);
      args.rate = args.rate * std::sqrt(1.0F - power_2) / (1.0F - power_1);
      break;
    }
    case OptimizerKind::kAdagrad:
      break;
    case OptimizerKind::kAdamax:
      args.a = static_cast<float>(1.0 - optimizer.beta_1);
      args.b = static_cast<float>(optimizer.beta_2);
      args.c = 1.0F - std::pow(static_cast<float>(optimizer.beta_1), static_cast<float>(step + 1));
      break;
    case OptimizerKind::kNadam:
      args.a = 1.0F - static_cast<float>(optimizer.beta_1);
      args.b = 1.0F - static_cast<float>(optimizer.beta_2);
      SetNadamScalars(optimizer, step + 1, &args);
      break;
    case OptimizerKind::kFtrl:
      args.c = static_cast<float>(2.0 * optimizer.l2_shrinkage_regularization_strength);
      args.d = static_cast<float>(-optimizer.learning_rate_power);
      args.e = 2.0F * (static_cast<float>(optimizer.l2_regularization_strength) +
                       static_cast<float>(optimizer.beta) / (2.0F * args.rate));
      args.f = static_cast<float>(optimizer.l1_regularization_strength);
      break;
    case OptimizerKind::kLion:
      args.a = static_cast<float>(optimizer.beta_1);
      args.b = static_cast<float>(optimizer.beta_2);
      args.c = 1.0F - args.a;
      args.d = 1.0F - args.b;
      break;
  }
  return args;
}

int RuleSlots(const OptimizerParams& optimizer) {
  const bool momentum = optimizer.momentum != 0.0;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      return momentum ? 1 : 0;
    case OptimizerKind::kRmsprop:
      return 1 + (optimizer.centered ? 1 : 0) + (momentum ? 1 : 0);
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return optimizer.amsgrad ? 3 : 2;
    case OptimizerKind::kAdagrad:
    case OptimizerKind::kLion:
      return 1;
    case OptimizerKind::kAdadelta:
    case OptimizerKind::kAdamax:
    case OptimizerKind::kNadam:
    case OptimizerKind::kFtrl:
      return 2;
  }
  return 0;
}

int SlotCount(const OptimizerParams& optimizer) {
  return RuleSlots(optimizer) + (optimizer.use_ema ? 1 : 0);
}

const char* OptimizerName(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "SGD";
    case OptimizerKind::kRmsprop:
      return "RMSprop";
    case OptimizerKind::kAdam:
      return "Adam";
    case OptimizerKind::kAdamW:
      return "AdamW";
    case OptimizerKind::kAdagrad:
      return "Adagrad";
    case OptimizerKind::kAdadelta:
      return "Adadelta";
    case OptimizerKind::kAdamax:
      return "Adamax";
    case OptimizerKind::kNadam:
      return "Nadam";
    case OptimizerKind::kFtrl:
      return "Ftrl";
    case OptimizerKind::kLion:
      return "Lion";
  }
  return "";
}

std::string SlotNames(const OptimizerParams& optimizer) {
  std::string names = OptimizerName(optimizer.kind);
  const bool adam =
      optimizer.kind == OptimizerKind::kAdam || optimizer.kind == OptimizerKind::kAdamW;
  const bool rmsprop = optimizer.kind == OptimizerKind::kRmsprop;
  if (adam && optimizer.amsgrad) names += " amsgrad";
  if (rmsprop && optimizer.centered) names += " centered";
  if ((rmsprop || optimizer.kind == OptimizerKind::kSgd) && optimizer.momentum != 0.0) {
    names += " momentum";
  }
  if (optimizer.use_ema) names += " ema";
  return names;
}

void ApplyOptimizer(const OptimizerParams& optimizer, int64_t step,
                    const std::vector<TrainableSpan>& spans, float* params, float* gradients,
                    float* slots, int64_t slot_size, uint16_t* shadow, Team* team) {
  const bool clips_norm = optimizer.clipnorm && *optimizer.clipnorm > 0.0;
  // Norms are sums over all weights, in one order: the calling thread's.
  const bool by_norm = optimizer.global_clipnorm || clips_norm;
  int64_t size = 0;
  for (const TrainableSpan& span : spans) {
    size += span.size;
    if (!by_norm) continue;
    AddRegularization(span, params + span.offset, gradients + span.offset);
    if (optimizer.global_clipnorm) continue;
    ClipNorm(static_cast<float>(*optimizer.clipnorm), span.size, gradients + span.offset);
  }
  if (optimizer.global_clipnorm) {
    ClipTogether(static_cast<float>(*optimizer.global_clipnorm), spans, gradients);
  }
  const Update update{optimizer,
                      step,
                      ChooseKernel(optimizer),
                      RuleSlots(optimizer),
                      !by_norm,
                      LearningRate(optimizer, step),
                      StepScalars(optimizer, step),
                      params,
                      gradients,
                      slots,
                      slot_size,
                      shadow};
  const double work = kUpdateWork * static_cast<double>(size);
  RunShares(team, size, work, [&](int64_t first, int64_t last, int) {
    int64_t before = 0;  // weights in the spans before this one
    for (const TrainableSpan& span : spans) {
      const int64_t from = std::max(first - before, int64_t{0});
      const int64_t to = std::min(last - before, span.size);
      if (from < to) update.Run(span, from, to);
      before += span.size;
    }
  });
}

void UseAverages(const OptimizerParams& optimizer, int64_t step,
                 const std::vector<TrainableSpan>& spans, const float* slots, int64_t slot_size,
                 float* params) {
  if (!optimizer.use_ema || step == 0) return;
  const float* averages = slots + RuleSlots(optimizer) * slot_size;
  for (const TrainableSpan& span : spans) {
    std::copy_n(averages + span.slot_offset, span.size, params + span.offset);
  }
}

double RegularizationLoss(const std::vector<TrainableSpan>& spans, const float* params) {
  double loss = 0.0;
  for (const TrainableSpan& span : spans) {
    const float* w = params + span.offset;
    if (span.l1 != 0.0) {
      loss += span.l1 * SumOf(w, span.size, [](double v) { return std::abs(v); });
    }
    if (span.l2 != 0.0) loss += span.l2 * SumOfSquares(w, span.size);
  }
  return loss;
}

}  // namespace hopper
