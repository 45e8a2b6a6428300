#include <ATen/ops/add.h>

#include <algorithm>

#include "model/layers/add/add.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

at::Tensor WithRank(at::Tensor x, int64_t rank) {
  while (x.dim() < rank) x = x.unsqueeze(1);
  return x;
}

class Tensors : public Operator {
 public:
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    int64_t rank = 0;
    for (const at::Tensor& input : inputs) rank = std::max(rank, input.dim());
    at::Tensor sum = WithRank(inputs[0], rank);
    for (size_t i = 1; i < inputs.size(); ++i) sum = at::add(sum, WithRank(inputs[i], rank));
    return sum;
  }
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Add& /*layer*/) { return std::make_unique<Tensors>(); }

}  // namespace layers
}  // namespace hopper
