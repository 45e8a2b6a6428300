#include <ATen/ops/add.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/div.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sub.h>

#include "base/keras_epsilon.h"
#include "model/layers/normalization/normalization.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class NormalizationOperator : public Operator {
 public:
  explicit NormalizationOperator(const Normalization& layer)
      : layer_(layer),
        mean_(layer.mean.begin(), layer.mean.end()),
        variance_(layer.variance.begin(), layer.variance.end()) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext&) const override {
    const at::Tensor& x = inputs[0];
    const Shape sizes = layer_.Broadcast(Shape(x.sizes().begin() + 1, x.sizes().end()));
    const at::Tensor mean =
        layer_.given() ? Given(mean_, sizes, x) : weights[0].reshape(sizes).to(x.dtype());
    const at::Tensor variance =
        layer_.given() ? Given(variance_, sizes, x) : weights[1].reshape(sizes).to(x.dtype());
    const at::Tensor deviation = at::clamp_min(at::sqrt(variance), kKerasEpsilon);
    if (layer_.invert) return at::add(at::mul(x, deviation), mean);
    return at::div(at::sub(x, mean), deviation);
  }

  bool float_weights() const override { return true; }

 private:
  static at::Tensor Given(const std::vector<float>& values, const Shape& sizes,
                          const at::Tensor& x) {
    const auto n = static_cast<int64_t>(values.size());
    const at::Tensor all = at::from_blob(const_cast<float*>(values.data()), {n},
                                         at::TensorOptions().dtype(at::kFloat));
    at::Tensor shaped = all;
    if (n == ElementCount(sizes)) {
      shaped = all.reshape(sizes);
    } else if (n != 1) {  // of the last axis with statistics of its own
      Shape one(sizes.size(), 1);
      size_t last = sizes.size() - 1;
      while (sizes[last] == 1) --last;
      one[last] = n;
      shaped = all.reshape(one);
    }
    return shaped.to(x.options());
  }

  const Normalization& layer_;
  const std::vector<float> mean_;
  const std::vector<float> variance_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Normalization& layer) {
  return std::make_unique<NormalizationOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
