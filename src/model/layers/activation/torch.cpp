#include <ATen/ops/exp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/sub.h>

#include "model/layers/activation/softmax.h"
#include "model/network/activate.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

class ActivationOperator : public Operator {
 public:
  explicit ActivationOperator(const ActivationLayer& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    return AppliesActivation(layer_.activation, context.linear)
               ? Activate(inputs[0], layer_.activation)
               : inputs[0];
  }

 private:
  const ActivationLayer& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const ActivationLayer& layer) {
  return std::make_unique<ActivationOperator>(layer);
}

std::unique_ptr<Operator> MakeOperator(const Softmax& layer) {
  if (layer.axes.empty()) return MakeOperator(static_cast<const ActivationLayer&>(layer));
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    const std::vector<int64_t> axes = layer.AxesOf(Shape(x.sizes().begin() + 1, x.sizes().end()));
    return at::exp(at::sub(x, at::logsumexp(x, axes, /*keepdim=*/true)));
  });
}

}  // namespace layers
}  // namespace hopper
