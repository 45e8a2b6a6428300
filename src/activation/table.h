// All activations: a row each. Places are Activation's: new rows come last.
#pragma once

#include "activation/activation_type.h"
#include "activation/exponentials.h"
#include "activation/gates.h"
#include "activation/linear.h"
#include "activation/rectifiers.h"
#include "activation/rows.h"
#include "activation/shrinks.h"
#include "activation/sigmoids.h"
#include "activation/softplus.h"
#include "activation/tanhs.h"
#include "base/place_in.h"

namespace hopper {

template <typename... A>
struct ActivationList {};

using Activations = ActivationList<
    activations::Linear, activations::Relu, activations::Relu6, activations::LeakyRelu,
    activations::Elu, activations::Selu, activations::Softplus, activations::Softsign,
    activations::Tanh, activations::Sigmoid, activations::HardSigmoid, activations::HardSigmoid2,
    activations::Exponential, activations::Swish, activations::Gelu, activations::Mish,
    activations::Softmax, activations::LogSoftmax, activations::Celu, activations::HardSilu,
    activations::HardTanh, activations::HardShrink, activations::SoftShrink,
    activations::TanhShrink, activations::LogSigmoid, activations::Squareplus,
    activations::SparsePlus, activations::SparseSigmoid, activations::Sparsemax, activations::Glu,
    activations::GeluByTanh, activations::QuickGelu>;

// The forms of all of them, one after another.
template <typename... Lists>
struct JoinedForms;
template <typename... F>
struct JoinedForms<FormList<F...>> {
  using Type = FormList<F...>;
};
template <typename... A, typename... B, typename... Rest>
struct JoinedForms<FormList<A...>, FormList<B...>, Rest...> {
  using Type = typename JoinedForms<FormList<A..., B...>, Rest...>::Type;
};
template <typename List>
struct FormsOf;
template <typename... A>
struct FormsOf<ActivationList<A...>> {
  using Type = typename JoinedForms<typename A::Forms...>::Type;
};
using AllForms = typename FormsOf<Activations>::Type;

constexpr int kPlainRelu = PlaceIn<activations::Relu::Plain>(AllForms());
constexpr int kRelu6 = PlaceIn<activations::SixForm>(AllForms());  // of a ReLU layer

}  // namespace hopper
