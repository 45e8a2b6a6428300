#include <ATen/ops/repeat_interleave.h>

#include "model/layers/inputs.h"
#include "model/layers/repeat/repeat.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Repetition& layer) {
  const auto* of_values = dynamic_cast<const Repeat*>(&layer);
  return MakeFunctionOperator([&layer, of_values](const std::vector<at::Tensor>& inputs,
                                                  const std::vector<at::Tensor>&,
                                                  const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    const Shape example(x.sizes().begin() + 1, x.sizes().end());
    if (of_values != nullptr) {
      const int64_t axis = AxesOfExample(layer, {of_values->axis}, example)[0];
      return at::repeat_interleave(x, of_values->times, axis);
    }
    Shape times = layer.TimesOf(example);
    times.insert(times.begin(), 1);
    return x.repeat(times);
  });
}

}  // namespace layers
}  // namespace hopper
