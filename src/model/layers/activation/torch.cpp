#include "model/layers/activation/activation_layer.h"
#include "model/network/activate.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class Tensors : public Operator {
 public:
  explicit Tensors(const ActivationLayer& layer) : layer_(layer) {}

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
  return std::make_unique<Tensors>(layer);
}

}  // namespace layers
}  // namespace hopper
