#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

namespace hopper {
namespace {

// Pointers of one span and the scalars of one step. Everything is float32 where Keras computes
// in float32: the learning rate, the betas' powers and the bias correction.
struct StepArgs {
  int64_t size = 0;
  float* __restrict w = nullptr;
  const float* __restrict g = nullptr;
  float* __restrict s0 = nullptr;
  float* __restrict s1 = nullptr;
  float* __restrict s2 = nullptr;
  float rate = 0.0F;  // Adam: with the bias correction
  float momentum = 0.0F;
  float a = 0.0F;  // rho; 1 - beta_1
  float b = 0.0F;  // 1 - rho; 1 - beta_2
  float epsilon = 0.0F;
};

// Kernels are inlined into a function per instruction set. No fused multiply-add is used in any
// of them (-ffp-contract=off), so that all instruction sets give the same bits.
#define HOPPER_INLINE __attribute__((always_inline)) inline

struct SgdKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) p.w[i] -= p.g[i] * p.rate;
  }
};

template <bool kNesterov>
struct MomentumKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float increment = p.g[i] * p.rate;
      const float velocity = p.s0[i] * p.momentum - increment;
      p.s0[i] = velocity;
      p.w[i] += kNesterov ? velocity * p.momentum - increment : velocity;
    }
  }
};

// Slots: mean square, then mean gradient (centered), then velocity (momentum).
template <bool kCentered, bool kMomentum>
struct RmspropKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    float* __restrict mean = p.s1;
    float* __restrict velocity = kCentered ? p.s2 : p.s1;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float square = p.a * p.s0[i] + p.b * (g * g);
      p.s0[i] = square;
      float variance = square;
      if (kCentered) {
        const float average = p.a * mean[i] + p.b * g;
        mean[i] = average;
        variance = square - average * average;
      }
      const float increment = (p.rate * g) / std::sqrt(variance + p.epsilon);
      if (kMomentum) {
        const float v = p.momentum * velocity[i] + increment;
        velocity[i] = v;
        p.w[i] -= v;
      } else {
        p.w[i] -= increment;
      }
    }
  }
};

// Slots: first moment, second moment, then its maximum (amsgrad).
template <bool kAmsgrad>
struct AdamKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float m = p.s0[i] + (g - p.s0[i]) * p.a;
      float v = p.s1[i] + (g * g - p.s1[i]) * p.b;
      p.s0[i] = m;
      p.s1[i] = v;
      if (kAmsgrad) {
        v = p.s2[i] > v ? p.s2[i] : v;
        p.s2[i] = v;
      }
      p.w[i] -= (m * p.rate) / (std::sqrt(v) + p.epsilon);
    }
  }
};

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
      return optimizer.amsgrad ? Run<AdamKernel<true>> : Run<AdamKernel<false>>;
  }
  return Run<SgdKernel>;
}

StepArgs StepScalars(const OptimizerParams& optimizer, int64_t step) {
  StepArgs args;
  args.rate = static_cast<float>(optimizer.learning_rate);
  if (optimizer.decay != 0.0) {
    args.rate /= 1.0F + static_cast<float>(optimizer.decay) * static_cast<float>(step);
  }
  args.momentum = static_cast<float>(optimizer.momentum);
  args.epsilon = static_cast<float>(optimizer.epsilon);
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      break;
    case OptimizerKind::kRmsprop:
      args.a = static_cast<float>(optimizer.rho);
      args.b = static_cast<float>(1.0 - optimizer.rho);
      break;
    case OptimizerKind::kAdam: {
      args.a = static_cast<float>(1.0 - optimizer.beta_1);
      args.b = static_cast<float>(1.0 - optimizer.beta_2);
      const float t = static_cast<float>(step + 1);
      const float power_1 = std::pow(static_cast<float>(optimizer.beta_1), t);
      const float power_2 = std::pow(static_cast<float>(optimizer.beta_2), t);
      args.rate = args.rate * std::sqrt(1.0F - power_2) / (1.0F - power_1);
      break;
    }
  }
  return args;
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

void Clip(const OptimizerParams& optimizer, int64_t size, float* __restrict g) {
  if (optimizer.clipnorm && *optimizer.clipnorm > 0.0) {
    const float limit = static_cast<float>(*optimizer.clipnorm);
    const float norm = std::sqrt(static_cast<float>(SumOfSquares(g, size)));
    if (!(norm <= limit)) {  // also when it is NaN, which the caller then sees in the weights
      for (int64_t i = 0; i < size; ++i) g[i] = g[i] * limit / norm;
    }
  }
  if (optimizer.clipvalue && *optimizer.clipvalue > 0.0) {
    const float limit = static_cast<float>(*optimizer.clipvalue);
    for (int64_t i = 0; i < size; ++i) {
      const float v = g[i];  // the comparisons keep NaN
      g[i] = v > limit ? limit : (v < -limit ? -limit : v);
    }
  }
}

}  // namespace

int SlotCount(const OptimizerParams& optimizer) {
  const bool momentum = optimizer.momentum != 0.0;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      return momentum ? 1 : 0;
    case OptimizerKind::kRmsprop:
      return 1 + (optimizer.centered ? 1 : 0) + (momentum ? 1 : 0);
    case OptimizerKind::kAdam:
      return optimizer.amsgrad ? 3 : 2;
  }
  return 0;
}

const char* OptimizerName(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "SGD";
    case OptimizerKind::kRmsprop:
      return "RMSprop";
    case OptimizerKind::kAdam:
      return "Adam";
  }
  return "";
}

void ApplyOptimizer(const OptimizerParams& optimizer, int64_t step,
                    const std::vector<TrainableSpan>& spans, float* params, float* gradients,
                    float* slots, int64_t slot_size) {
  const KernelFunction kernel = ChooseKernel(optimizer);
  const int n_slots = SlotCount(optimizer);
  StepArgs args = StepScalars(optimizer, step);
  for (const TrainableSpan& span : spans) {
    float* w = params + span.offset;
    float* g = gradients + span.offset;
    AddRegularization(span, w, g);
    Clip(optimizer, span.size, g);
    args.size = span.size;
    args.w = w;
    args.g = g;
    float* slot = slots + span.slot_offset;
    if (n_slots > 0) args.s0 = slot;
    if (n_slots > 1) args.s1 = slot + slot_size;
    if (n_slots > 2) args.s2 = slot + 2 * slot_size;
    kernel(args);
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
