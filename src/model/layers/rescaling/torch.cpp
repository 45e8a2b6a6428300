#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>

#include "model/layers/rescaling/rescaling.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class RescalingOperator : public Operator {
 public:
  explicit RescalingOperator(const Rescaling& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor& x = inputs[0];
    at::Tensor y = layer_.scale.size() == 1 ? at::mul(x, layer_.scale[0])
                                            : at::mul(x, Values(layer_.scale, x));
    if (layer_.offset.size() != 1) {
      y.add_(Values(layer_.offset, x));
    } else if (layer_.offset[0] != 0.0) {
      y.add_(layer_.offset[0]);
    }
    return y;
  }

 private:
  static at::Tensor Values(const std::vector<double>& values, const at::Tensor& x) {
    std::vector<double> copy = values;
    return at::from_blob(copy.data(), {static_cast<int64_t>(copy.size())},
                         at::TensorOptions().dtype(at::kDouble))
        .to(x.options(), /*non_blocking=*/false, /*copy=*/true);
  }

  const Rescaling& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Rescaling& layer) {
  return std::make_unique<RescalingOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
