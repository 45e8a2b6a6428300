#include <ATen/ops/amax.h>
#include <ATen/ops/mean.h>

#include "model/layers/global_pooling_2d/global_pooling_2d.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class GlobalPooling2DOperator : public Operator {
 public:
  explicit GlobalPooling2DOperator(const GlobalPooling2D& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    // Equal maxima share the gradient, as they do in TensorFlow.
    return layer_.maximum ? at::amax(inputs[0], {1, 2}, layer_.keepdims)
                          : at::mean(inputs[0], {1, 2}, layer_.keepdims);
  }

 private:
  const GlobalPooling2D& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const GlobalPooling2D& layer) {
  return std::make_unique<GlobalPooling2DOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
