#include <ATen/core/grad_mode.h>
#include <ATen/ops/any.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>

#include "base/keras_epsilon.h"
#include "model/layers/spectral_normalization/spectral_normalization.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

// Of length 1; formula: keras.ops.normalize().
at::Tensor Normalized(const at::Tensor& vector) {
  return at::mul(vector,
                 at::clamp_max(at::rsqrt(at::sum(at::square(vector))), 1.0 / kKerasEpsilon));
}

class SpectralNormalizationOperator : public Operator {
 public:
  explicit SpectralNormalizationOperator(const SpectralNormalization& layer)
      : layer_(layer), inner_(OperatorOf(layer.inner())) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    std::vector<at::Tensor> own = weights;
    const size_t place = layer_.PlaceOfVector(weights.size());
    own.erase(own.begin() + static_cast<std::ptrdiff_t>(place));
    if (context.training) {
      Normalize(weights[0].detach(), weights[place].detach());
      // A copy, so that another call of the layer in this step does not change what gradients of
      // this one are made of.
      own[0] = weights[0].clone();
    }
    return inner_->Forward(inputs, own, context);
  }

  bool float_weights() const override { return inner_->float_weights(); }

 private:
  // Both in place.
  void Normalize(at::Tensor kernel, at::Tensor vector) const {
    const at::NoGradGuard no_grad;
    if (!at::any(at::ne(kernel, 0.0)).item<bool>()) return;
    const at::Tensor rows = kernel.reshape({-1, kernel.size(-1)});
    at::Tensor u = vector;
    at::Tensor v;
    for (int64_t i = 0; i < layer_.power_iterations; ++i) {
      v = Normalized(at::matmul(u, rows.t()));
      u = Normalized(at::matmul(v, rows));
    }
    const at::Tensor sigma = at::matmul(at::matmul(v, rows), u.t());
    kernel.div_(sigma.reshape({}));
    vector.copy_(u);
  }

  const SpectralNormalization& layer_;
  const std::unique_ptr<Operator> inner_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const SpectralNormalization& layer) {
  return std::make_unique<SpectralNormalizationOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
