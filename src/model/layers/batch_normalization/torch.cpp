#include <ATen/core/grad_mode.h>
#include <ATen/ops/native_batch_norm.h>

#include "model/layers/batch_normalization/batch_normalization.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class BatchNormalizationOperator : public Operator {
 public:
  explicit BatchNormalizationOperator(const BatchNormalization& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    using MaybeTensor = std::optional<at::Tensor>;
    const at::Tensor& x = inputs[0];
    // Any rank as one channels-last image of a single column, for which libtorch has a fast
    // kernel; all of these are views.
    const int64_t channels = x.size(-1);
    const at::Tensor image =
        x.reshape({1, x.numel() / channels, 1, channels}).permute({0, 3, 1, 2});
    size_t next = 0;
    const MaybeTensor gamma = layer_.scale ? MaybeTensor(weights[next++]) : MaybeTensor();
    const MaybeTensor beta = layer_.center ? MaybeTensor(weights[next++]) : MaybeTensor();
    const at::Tensor& moving_mean = weights[next];
    const at::Tensor& moving_variance = weights[next + 1];
    at::Tensor y;
    // A frozen layer runs as in inference, also while the others train.
    if (context.training && layer_.trainable()) {
      auto [normalized, mean, inverse_deviation] =
          at::native_batch_norm(image, gamma, beta, MaybeTensor(), MaybeTensor(),
                                /*training=*/true, /*momentum=*/0.0, layer_.epsilon);
      y = std::move(normalized);
      UpdateMoving(moving_mean, moving_variance, mean, inverse_deviation);
    } else {
      y = std::get<0>(at::native_batch_norm(image, gamma, beta, moving_mean, moving_variance,
                                            /*training=*/false, /*momentum=*/0.0, layer_.epsilon));
    }
    return y.permute({0, 2, 3, 1}).reshape(x.sizes());
  }

  bool float_weights() const override { return true; }

 private:
  // moving = moving * momentum + batch * (1 - momentum), where the batch's variance is the biased
  // one: it is what the layer divided by, 1 / inverse_deviation^2 - epsilon.
  void UpdateMoving(at::Tensor moving_mean, at::Tensor moving_variance, const at::Tensor& mean,
                    const at::Tensor& inverse_deviation) const {
    const at::NoGradGuard no_grad;
    const at::Tensor variance = inverse_deviation.pow(-2).sub_(layer_.epsilon).clamp_min_(0.0);
    moving_mean.mul_(layer_.momentum).add_(mean, 1.0 - layer_.momentum);
    moving_variance.mul_(layer_.momentum).add_(variance, 1.0 - layer_.momentum);
  }

  const BatchNormalization& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const BatchNormalization& layer) {
  return std::make_unique<BatchNormalizationOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
