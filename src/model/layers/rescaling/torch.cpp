#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>

#include "model/layers/rescaling/rescaling.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class Tensors : public Operator {
 public:
  explicit Tensors(const Rescaling& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    at::Tensor y = at::mul(inputs[0], layer_.scale);
    if (layer_.offset != 0.0) y.add_(layer_.offset);
    return y;
  }

 private:
  const Rescaling& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Rescaling& layer) {
  return std::make_unique<Tensors>(layer);
}

}  // namespace layers
}  // namespace hopper
