#include <ATen/ops/gt.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>

#include "model/layers/power/power.h"
#include "model/network/broadcast.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

// As in Keras an exponent has a gradient only where its base is above 0: elsewhere the logarithm is
// none. The other branch of a choice must not be NaN, which would be one in the gradient, too.
at::Tensor PowerOfTwo(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor above = at::gt(x, 0.0);
  return at::where(above, at::pow(at::where(above, x, 1.0), y),
                   at::pow(at::where(above, 1.0, x), y.detach()));
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Power& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    if (inputs.size() == 1) {
      return layer.of == Power::Of::kTensor ? at::pow(inputs[0], layer.number)
                                            : at::pow(layer.number, inputs[0]);
    }
    const std::vector<at::Tensor> two = WithOneRank(inputs);
    return PowerOfTwo(two[0], two[1]);
  });
}

}  // namespace layers
}  // namespace hopper
