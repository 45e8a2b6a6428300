#include "model/batch_sizes.h"
#include "model/layers/input_layer/input_layer.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class InputLayerOperator : public Operator {
 public:
  explicit InputLayerOperator(const InputLayer& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor& row = inputs[0];
    return row.narrow(1, layer_.first, ElementCount(layer_.shape))
        .reshape(WithBatch(row.size(0), layer_.shape));
  }

 private:
  const InputLayer& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const InputLayer& layer) {
  return std::make_unique<InputLayerOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
