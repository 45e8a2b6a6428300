#include <ATen/ops/clamp.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>

#include "model/layers/temperature/temperature.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Temperature& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    if (inputs[0].size(-1) > 1) {
      const at::Tensor p = at::clamp_min(inputs[0], kLeastProbability);
      return at::softmax(at::log(p) * (1.0 / layer.temperature), -1);
    }
    const at::Tensor p = at::clamp(inputs[0], kLeastProbability, kMostProbability);
    return at::sigmoid((at::log(p) - at::log1p(-p)) * (1.0 / layer.temperature));
  });
}

}  // namespace layers
}  // namespace hopper
