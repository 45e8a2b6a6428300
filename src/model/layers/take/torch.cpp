#include <ATen/ops/cat.h>
#include <ATen/ops/narrow.h>

#include "model/layers/take/take.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

// Parts instead of an index, whose gradient on GPUs is a sum in no fixed order.
std::unique_ptr<Operator> MakeOperator(const Take& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    const Take::Taken taken = layer.Of(Shape(x.sizes().begin() + 1, x.sizes().end()));
    std::vector<at::Tensor> parts;
    for (const Take::Run& run : taken.runs) {
      parts.push_back(at::narrow(x, taken.axis, run.first, run.count));
    }
    return at::cat(parts, taken.axis);
  });
}

}  // namespace layers
}  // namespace hopper
