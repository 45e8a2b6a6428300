#include <ATen/ops/mean.h>

#include "model/layers/ensemble_average/ensemble_average.h"
#include "model/network/activate.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const EnsembleAverage& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    return at::mean(Activate(inputs[0], layer.activation), {1});
  });
}

}  // namespace layers
}  // namespace hopper
