#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>

#include "model/layers/layer_normalization/layer_normalization.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class AxesTensors : public Operator {
 public:
  explicit AxesTensors(const AxesNormalization& layer) : layer_(layer) {}
  bool float_weights() const override { return true; }

 protected:
  // Counted with the batch.
  std::vector<int64_t> AxesOf(const at::Tensor& x) const {
    std::vector<int64_t> axes = layer_.AxesOf({x.sizes().begin() + 1, x.sizes().end()});
    for (int64_t& axis : axes) ++axis;
    return axes;
  }
  // A weight along the axes, to be multiplied with x.
  static at::Tensor Spread(const at::Tensor& weight, const std::vector<int64_t>& axes,
                           int64_t rank) {
    std::vector<int64_t> sizes(static_cast<size_t>(rank), 1);
    for (size_t i = 0; i < axes.size(); ++i) {
      sizes[static_cast<size_t>(axes[i])] = weight.size(static_cast<int64_t>(i));
    }
    return weight.reshape(sizes);
  }

 private:
  const AxesNormalization& layer_;
};

class LayerTensors : public AxesTensors {
 public:
  explicit LayerTensors(const LayerNormalization& layer) : AxesTensors(layer), layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext&) const override {
    const at::Tensor x = inputs[0].to(at::kFloat);
    const std::vector<int64_t> axes = AxesOf(x);
    size_t next = 0;
    const at::Tensor gamma = layer_.scale ? weights[next++] : at::Tensor();
    const at::Tensor beta = layer_.center ? weights[next] : at::Tensor();
    const auto maybe = [](const at::Tensor& weight) {
      return weight.defined() ? std::optional<at::Tensor>(weight) : std::nullopt;
    };
    if (AxesNormalization::AtTheEnd(axes, static_cast<size_t>(x.dim()))) {
      const std::vector<int64_t> sizes(x.sizes().begin() + axes.front(), x.sizes().end());
      return at::layer_norm(x, sizes, maybe(gamma), maybe(beta), layer_.epsilon)
          .to(inputs[0].scalar_type());
    }
    const at::Tensor centered = x - at::mean(x, axes, /*keepdim=*/true);
    const at::Tensor variance = at::mean(centered * centered, axes, /*keepdim=*/true);
    at::Tensor y = centered * at::rsqrt(variance + layer_.epsilon);
    if (gamma.defined()) y = y * Spread(gamma, axes, x.dim());
    if (beta.defined()) y = y + Spread(beta, axes, x.dim());
    return y.to(inputs[0].scalar_type());
  }

 private:
  const LayerNormalization& layer_;
};

class RootTensors : public AxesTensors {
 public:
  explicit RootTensors(const RMSNormalization& layer) : AxesTensors(layer), layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext&) const override {
    const at::Tensor x = inputs[0].to(at::kFloat);
    const std::vector<int64_t> axes = AxesOf(x);
    const at::Tensor inverse = at::rsqrt(at::mean(x * x, axes, /*keepdim=*/true) + layer_.epsilon);
    return (x * inverse * Spread(weights[0], axes, x.dim())).to(inputs[0].scalar_type());
  }

 private:
  const RMSNormalization& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const LayerNormalization& layer) {
  return std::make_unique<LayerTensors>(layer);
}
std::unique_ptr<Operator> MakeOperator(const RMSNormalization& layer) {
  return std::make_unique<RootTensors>(layer);
}

}  // namespace layers
}  // namespace hopper
