#include "model/batch_sizes.h"
#include "model/layers/reshape/reshape.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class ReshapeOperator : public Operator {
 public:
  explicit ReshapeOperator(const SameValues& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor& x = inputs[0];
    const Shape shape = layer_.OutputShape({Shape(x.sizes().begin() + 1, x.sizes().end())});
    return x.reshape(WithBatch(x.size(0), shape));
  }

 private:
  const SameValues& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const SameValues& layer) {
  return std::make_unique<ReshapeOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
