#include <ATen/ops/mul.h>

#include "model/layers/spatial_dropout_1d/spatial_dropout_1d.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

class SpatialDropout1DOperator : public Operator {
 public:
  explicit SpatialDropout1DOperator(const SpatialDropout1D& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];
    if (!context.training || layer_.rate == 0.0) return x;
    const at::Tensor mask = RandomMask(context, {x.size(0), 1, x.size(2)}, layer_.rate, x);
    return at::mul(x, mask.to(x.scalar_type()));
  }

 private:
  const SpatialDropout1D& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const SpatialDropout1D& layer) {
  return std::make_unique<SpatialDropout1DOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
