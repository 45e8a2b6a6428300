// BatchNormalization over the last axis, with Keras' rules: epsilon 1e-3, momentum 0.99, and the
// biased variance in the moving average (libtorch's is the corrected one).
#include "model/lane_layer.h"
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include <ATen/core/grad_mode.h>
#include <ATen/ops/native_batch_norm.h>

#include "model/layers/planned_batch_norm.h"
#endif

namespace hopper {
namespace {

class BatchNormalization : public Layer, public FloatWeightsLayer {
 public:
  explicit BatchNormalization(LayerConfig& config)
      : Layer(config),
        axis_(config.Ints("axis", 1, {-1})[0]),
        momentum_(config.Number("momentum", 0.99)),
        epsilon_(config.Number("epsilon", 1e-3)),
        center_(config.Bool("center", true)),
        scale_(config.Bool("scale", true)),
        beta_initializer_(config.GetInitializer("beta_initializer", "zeros")),
        gamma_initializer_(config.GetInitializer("gamma_initializer", "ones")),
        mean_initializer_(config.GetInitializer("moving_mean_initializer", "zeros")),
        variance_initializer_(config.GetInitializer("moving_variance_initializer", "ones")),
        beta_regularizer_(config.GetRegularizer("beta_regularizer")),
        gamma_regularizer_(config.GetRegularizer("gamma_regularizer")) {
    if (!(momentum_ >= 0.0 && momentum_ <= 1.0)) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"momentum\" must lie between 0 and 1");
    }
    if (!(epsilon_ > 0.0)) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"epsilon\" must be positive");
    }
    for (const char* key :
         {"beta_constraint", "gamma_constraint", "renorm", "synchronized", "virtual_batch_size"}) {
      config.RequireUnset(key);
    }
    for (const char* key : {"fused", "renorm_clipping", "renorm_momentum"}) config.Ignore(key);
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    if (inputs.size() != 1 || inputs[0].empty()) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class BatchNormalization needs one input of " +
                      "rank 1 or more");
    }
    const int64_t last = static_cast<int64_t>(inputs[0].size());  // the batch is axis 0
    if (axis_ != -1 && axis_ != last) {
      throw Error(ErrorCode::kNotSupported,
                  "layer \"" + name() + "\" of class BatchNormalization: axis " +
                      std::to_string(axis_) + " is not supported",
                  "", "Normalize the last axis (axis -1).");
    }
    return inputs[0];
  }

  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override {
    std::vector<WeightSpec> weights;
    const auto add = [&](const char* name, const InitializerSpec& initializer,
                         const RegularizerSpec& regularizer, bool trainable) {
      WeightSpec weight;
      weight.name = name;
      weight.shape = {inputs[0].back()};
      weight.initializer = initializer;
      weight.regularizer = regularizer;
      weight.trainable = trainable;
      weights.push_back(std::move(weight));
    };
    if (scale_) add("gamma", gamma_initializer_, gamma_regularizer_, true);
    if (center_) add("beta", beta_initializer_, beta_regularizer_, true);
    add("moving_mean", mean_initializer_, {}, false);
    add("moving_variance", variance_initializer_, {}, false);
    return weights;
  }

  int64_t Flops(const std::vector<Shape>&, const Shape& output) const override {
    return 2 * ElementCount(output);
  }

#ifdef HOPPER_TORCH
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
    const MaybeTensor gamma = scale_ ? MaybeTensor(weights[next++]) : MaybeTensor();
    const MaybeTensor beta = center_ ? MaybeTensor(weights[next++]) : MaybeTensor();
    const at::Tensor& moving_mean = weights[next];
    const at::Tensor& moving_variance = weights[next + 1];
    at::Tensor y;
    // A frozen layer runs as in inference, also while the others train.
    if (context.training && trainable()) {
      auto [normalized, mean, inverse_deviation] =
          at::native_batch_norm(image, gamma, beta, MaybeTensor(), MaybeTensor(),
                                /*training=*/true, /*momentum=*/0.0, epsilon_);
      y = std::move(normalized);
      UpdateMoving(moving_mean, moving_variance, mean, inverse_deviation);
    } else {
      y = std::get<0>(at::native_batch_norm(image, gamma, beta, moving_mean, moving_variance,
                                            /*training=*/false, /*momentum=*/0.0, epsilon_));
    }
    return y.permute({0, 2, 3, 1}).reshape(x.sizes());
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    NormSizes sizes;
    sizes.scale = scale_;
    sizes.center = center_;
    sizes.batch_statistics = node->training && trainable();
    sizes.momentum = momentum_;
    sizes.epsilon = epsilon_;
    return MakePlannedBatchNorm(node, sizes);
  }

 private:
  // moving = moving * momentum + batch * (1 - momentum), where the batch's variance is the biased
  // one: it is what the layer divided by, 1 / inverse_deviation^2 - epsilon.
  void UpdateMoving(at::Tensor moving_mean, at::Tensor moving_variance, const at::Tensor& mean,
                    const at::Tensor& inverse_deviation) const {
    const at::NoGradGuard no_grad;
    const at::Tensor variance = inverse_deviation.pow(-2).sub_(epsilon_).clamp_min_(0.0);
    moving_mean.mul_(momentum_).add_(mean, 1.0 - momentum_);
    moving_variance.mul_(momentum_).add_(variance, 1.0 - momentum_);
  }
#endif

 private:
  int64_t axis_;
  double momentum_;
  double epsilon_;
  bool center_;
  bool scale_;
  InitializerSpec beta_initializer_;
  InitializerSpec gamma_initializer_;
  InitializerSpec mean_initializer_;
  InitializerSpec variance_initializer_;
  RegularizerSpec beta_regularizer_;
  RegularizerSpec gamma_regularizer_;
};

}  // namespace

std::unique_ptr<Layer> MakeBatchNormalization(LayerConfig& config) {
  return std::make_unique<BatchNormalization>(config);
}

}  // namespace hopper
