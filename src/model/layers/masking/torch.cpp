#include <ATen/ops/any.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "model/layers/masking/masking.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class MaskingOperator : public Operator {
 public:
  explicit MaskingOperator(const MaskingLayer& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor& x = inputs[0];
    const at::Tensor counts = at::any(x.detach().ne(layer_.mask_value), -1, /*keepdim=*/true);
    return at::where(counts, x, at::zeros_like(x));
  }

 private:
  const MaskingLayer& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const MaskingLayer& layer) {
  return std::make_unique<MaskingOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
