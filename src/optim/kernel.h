// What an optimizer's kernel is: one step's arithmetic on one weight, for the CPU and the GPU.
//
//   struct Plain : Kernel {                        // its base has what most have
//     using Scalars = Sgd::Scalars;                // numbers of a step, floats, the same for all
//     weights static constexpr int kSlots = 0;             // floats that it keeps beside each
//     weight static HOPPER_INLINE float Step(const Scalars& p, float g, float w, float* s);  // the
//     new weight
//   };
//
// Everything is float32 where Keras computes in float32. No fused multiply-add is used in any of
// them (-ffp-contract=off, nvcc's --fmad=false), so that all instruction sets and GPUs give the
// same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.h"

// Kernels are inlined into a function per instruction set.
#ifdef __CUDACC__
#define HOPPER_INLINE __host__ __device__ __forceinline__
#else
#define HOPPER_INLINE __attribute__((always_inline)) inline
#endif

namespace hopper {

struct Kernel {
  // Of the slots, for SlotNames(): what distinguishes them from those of the optimizer's others.
  static constexpr const char* kSlotNames = "";
  // The length of a step depends on the norms of the tensor and of its update. Such a kernel has no
  // Step() but
  //   static float Update(const Scalars& p, float g, float w, float* s);
  // and the weights become w - rate * (norm of the weights / norm of the updates) * update; the
  // quotient is 1 where one of the norms is 0.
  static constexpr bool kByNorms = false;
};

constexpr int kMaxSlots = 3;
constexpr int kMaxScalars = 10;

// The Scalars of any kernel.
struct StepScalars {
  float numbers[kMaxScalars] = {};

  template <typename Scalars>
  static StepScalars From(const Scalars& scalars) {
    static_assert(sizeof(Scalars) <= sizeof(numbers), "raise kMaxScalars");
    StepScalars all;
    std::memcpy(all.numbers, &scalars, sizeof(scalars));
    return all;
  }
  template <typename Scalars>
  HOPPER_INLINE Scalars As() const {
    Scalars scalars;
    std::memcpy(&scalars, numbers, sizeof(scalars));
    return scalars;
  }
};

// Weights that lie side by side, with their gradients and slots.
struct StepSpan {
  int64_t size = 0;
  float* w = nullptr;
  float* g = nullptr;  // a kernel by norms leaves its updates here
  float* s[kMaxSlots] = {};
};

template <typename K>
HOPPER_INLINE void RunElement(const typename K::Scalars& p, float* w, float* g, float* s) {
  if constexpr (K::kByNorms) {
    *g = K::Update(p, *g, *w, s);
  } else {
    *w = K::Step(p, *g, *w, s);
  }
}

template <typename K>
HOPPER_INLINE void RunSpan(const StepSpan& span, const StepScalars& scalars) {
  const auto p = scalars.As<typename K::Scalars>();
  float* __restrict w = span.w;
  float* __restrict g = span.g;
  float* __restrict s0 = span.s[0];
  float* __restrict s1 = span.s[1];
  float* __restrict s2 = span.s[2];
  for (int64_t i = 0; i < span.size; ++i) {
    float s[kMaxSlots] = {};
    if (K::kSlots > 0) s[0] = s0[i];
    if (K::kSlots > 1) s[1] = s1[i];
    if (K::kSlots > 2) s[2] = s2[i];
    RunElement<K>(p, w + i, g + i, s);
    if (K::kSlots > 0) s0[i] = s[0];
    if (K::kSlots > 1) s1[i] = s[1];
    if (K::kSlots > 2) s2[i] = s[2];
  }
}

// What a kernel by norms multiplies its updates with, apart from the rate.
HOPPER_HOST_DEVICE inline float NormRatio(float weights, float updates) {
  return weights > 0.0F && updates > 0.0F ? weights / updates : 1.0F;
}

template <typename... K>
struct TypeList {
  static constexpr int kSize = sizeof...(K);
};

}  // namespace hopper
