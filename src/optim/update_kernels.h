// One step's arithmetic for each optimizer, over one span of weights.
#pragma once

#include <cmath>
#include <cstdint>

namespace hopper {

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
  float a = 0.0F;  // rho; 1 - beta_1; Lion: beta_1
  float b = 0.0F;  // 1 - rho; 1 - beta_2; Adamax, Lion: beta_2
  float epsilon = 0.0F;
  // What is left of a step's scalars: see the kernels that use them.
  float c = 0.0F, d = 0.0F, e = 0.0F, f = 0.0F, h = 0.0F;
};

// Kernels are inlined into a function per instruction set. No fused multiply-add is used in any
// of them (-ffp-contract=off, nvcc's --fmad=false), so that all instruction sets and GPUs give the
// same bits.
#ifdef __CUDACC__
#define HOPPER_INLINE __host__ __device__ __forceinline__
#else
#define HOPPER_INLINE __attribute__((always_inline)) inline
#endif

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

// Slot: sum of squares.
struct AdagradKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float sum = p.s0[i] + g * g;
      p.s0[i] = sum;
      p.w[i] -= (p.rate * g) / std::sqrt(sum + p.epsilon);
    }
  }
};

// Slots: mean square of the gradients, mean square of the increments.
struct AdadeltaKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float square = p.a * p.s0[i] + p.b * (g * g);
      p.s0[i] = square;
      const float increment = -(std::sqrt(p.s1[i] + p.epsilon) * g / std::sqrt(square + p.epsilon));
      p.s1[i] = p.a * p.s1[i] + p.b * (increment * increment);
      p.w[i] += p.rate * increment;
    }
  }
};

// Slots: first moment, weighted largest gradient. c = 1 - beta_1^t.
struct AdamaxKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float m = p.s0[i] + (g - p.s0[i]) * p.a;
      const float decayed = p.b * p.s1[i];
      const float size = std::abs(g);
      const float u = decayed > size ? decayed : size;
      p.s0[i] = m;
      p.s1[i] = u;
      p.w[i] -= (p.rate * m) / (p.c * (u + p.epsilon));
    }
  }
};

// Slots: first moment, second moment. With mu_t = beta_1 * (1 - 0.96^t / 2) and the product of
// mu_1 to mu_t: c = mu_(t+1), d = 1 - the product to t + 1, e = 1 - mu_t, f = 1 - the product to
// t, h = 1 - beta_2^t.
struct NadamKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float m = p.s0[i] + (g - p.s0[i]) * p.a;
      const float v = p.s1[i] + (g * g - p.s1[i]) * p.b;
      p.s0[i] = m;
      p.s1[i] = v;
      const float ahead = p.c * m / p.d + p.e * g / p.f;
      p.w[i] -= (ahead * p.rate) / (std::sqrt(v / p.h) + p.epsilon);
    }
  }
};

// Slots: sum of squares, linear term. c = 2 * shrinkage, d = -learning_rate_power, e = 2 * l2
// (with beta / rate), f = l1.
template <bool kSquareRoot>
struct FtrlKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float w = p.w[i];
      const float sum = p.s0[i] + g * g;
      const float power = kSquareRoot ? std::sqrt(sum) : std::pow(sum, p.d);
      const float power_before = kSquareRoot ? std::sqrt(p.s0[i]) : std::pow(p.s0[i], p.d);
      const float linear = p.s1[i] + ((g + p.c * w) - (power - power_before) / p.rate * w);
      p.s0[i] = sum;
      p.s1[i] = linear;
      // The comparisons keep NaN.
      const float clipped = linear > p.f ? p.f : (linear < -p.f ? -p.f : linear);
      p.w[i] = (clipped - linear) / (power / p.rate + p.e);
    }
  }
};

// Slot: momentum. c = 1 - beta_1, d = 1 - beta_2.
struct LionKernel {
  static HOPPER_INLINE void Run(const StepArgs& args) {
    const StepArgs p = args;
    for (int64_t i = 0; i < p.size; ++i) {
      const float g = p.g[i];
      const float m = p.s0[i];
      const float direction = m * p.a + g * p.c;
      // Zero stays zero, NaN stays NaN.
      const float sign = direction > 0.0F ? 1.0F : (direction < 0.0F ? -1.0F : direction);
      p.w[i] -= p.rate * sign;
      p.s0[i] = m * p.b + g * p.d;
    }
  }
};

#undef HOPPER_INLINE

}  // namespace hopper
