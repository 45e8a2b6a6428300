#include "model/layers/flatten/flatten.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class FlattenOperator : public Operator {
 public:
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor& x = inputs[0];
    return x.reshape({x.size(0), ElementCount(Shape(x.sizes().begin() + 1, x.sizes().end()))});
  }
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Flatten& /*layer*/) {
  return std::make_unique<FlattenOperator>();
}

}  // namespace layers
}  // namespace hopper
