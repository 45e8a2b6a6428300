#include <ATen/ops/cat.h>

#include "model/layers/concatenate/concatenate.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class ConcatenateOperator : public Operator {
 public:
  explicit ConcatenateOperator(const Concatenate& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    return inputs.size() == 1 ? inputs[0] : at::cat(inputs, layer_.axis);
  }

 private:
  const Concatenate& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Concatenate& layer) {
  return std::make_unique<ConcatenateOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
