// All optimizers: a row each. Their order is part of stored states (Stopping's texts): new ones
// come last.
#pragma once

#include "optim/adadelta.h"
#include "optim/adagrad.h"
#include "optim/adam.h"
#include "optim/adamax.h"
#include "optim/ftrl.h"
#include "optim/lamb.h"
#include "optim/lion.h"
#include "optim/nadam.h"
#include "optim/rmsprop.h"
#include "optim/sgd.h"

namespace hopper {

using Optimizers =
    TypeList<Sgd, Rmsprop, Adam, AdamW, Adagrad, Adadelta, Adamax, Nadam, Ftrl, Lion, Lamb>;

// The kernels of all of them, one after another: places in this list are OptimizerType's.
template <typename... Lists>
struct Joined;
template <typename... K>
struct Joined<TypeList<K...>> {
  using Type = TypeList<K...>;
};
template <typename... A, typename... B, typename... Rest>
struct Joined<TypeList<A...>, TypeList<B...>, Rest...> {
  using Type = typename Joined<TypeList<A..., B...>, Rest...>::Type;
};
template <typename List>
struct KernelsOf;
template <typename... O>
struct KernelsOf<TypeList<O...>> {
  using Type = typename Joined<typename O::Kernels...>::Type;
};
using AllKernels = typename KernelsOf<Optimizers>::Type;

// Runs one kernel on one weight, whose slots lie `stride` floats apart.
template <typename K>
HOPPER_HOST_DEVICE inline void RunStrided(const StepScalars& scalars, float* w, float* g,
                                          float* slot, int64_t stride) {
  float s[kMaxSlots] = {};
  for (int i = 0; i < K::kSlots; ++i) s[i] = slot[i * stride];
  RunElement<K>(scalars.As<typename K::Scalars>(), w, g, s);
  for (int i = 0; i < K::kSlots; ++i) slot[i * stride] = s[i];
}
// Runs the kernel at `place`, as RunStrided() does.
template <typename... K>
HOPPER_HOST_DEVICE inline void RunKernelAt(TypeList<K...> /*kernels*/, int place,
                                           const StepScalars& scalars, float* w, float* g,
                                           float* slot, int64_t stride) {
  int at = 0;
  (void)((place == at++ && (RunStrided<K>(scalars, w, g, slot, stride), true)) || ...);
}

}  // namespace hopper
