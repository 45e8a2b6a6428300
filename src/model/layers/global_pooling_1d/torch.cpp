#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "model/layers/global_pooling_1d/global_pooling_1d.h"
#include "model/network/mask.h"

namespace hopper {
namespace layers {
namespace {

class GlobalPooling1DOperator : public Operator {
 public:
  explicit GlobalPooling1DOperator(const GlobalPooling1D& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];
    // Equal maxima share the gradient, as they do in TensorFlow.
    if (layer_.maximum) return at::amax(x, {1}, layer_.keepdims);
    const at::Tensor mask = MaskOf(context, inputs);
    if (!mask.defined()) return at::mean(x, {1}, layer_.keepdims);
    const at::Tensor counts = mask.unsqueeze(-1);
    // Of no step at all it is not a number, as in Keras.
    return at::sum(at::where(counts, x, at::zeros_like(x)), {1}, layer_.keepdims) /
           at::sum(counts.to(x.scalar_type()), {1}, layer_.keepdims);
  }

 private:
  const GlobalPooling1D& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const GlobalPooling1D& layer) {
  return std::make_unique<GlobalPooling1DOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
