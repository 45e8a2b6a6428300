#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>

#include <cmath>

#include "model/layers/periodic_embedding/periodic_embedding.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const PeriodicEmbedding& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext&) {
    const at::Tensor& x = inputs[0];  // [batch, n]
    const at::Tensor turns = x.unsqueeze(-1) * weights[0] * (2.0 * M_PI) + weights[1];
    // A product for each feature: [n, batch, frequencies] x [n, frequencies, units]
    const at::Tensor products = at::bmm(at::cos(turns).transpose(0, 1), weights[2]);
    const at::Tensor y = (products.transpose(0, 1) + weights[3]).reshape({x.size(0), -1});
    return layer.append_input ? at::cat({y, x}, 1) : y;
  });
}

}  // namespace layers
}  // namespace hopper
