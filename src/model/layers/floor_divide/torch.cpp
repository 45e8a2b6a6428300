#include <ATen/ops/div.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/remainder.h>

#include "model/layers/floor_divide/floor_divide.h"
#include "model/network/broadcast.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const WholeDivision& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const std::vector<at::Tensor> two = WithOneRank(inputs);
    if (layer.gives_rest) return at::remainder(two[0], two[1]);
    // TensorFlow's rule; libtorch's own floor_divide() rounds elsewhere near whole numbers.
    return at::floor(at::div(two[0].detach(), two[1].detach()));
  });
}

}  // namespace layers
}  // namespace hopper
