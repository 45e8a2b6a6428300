#include <ATen/ops/stack.h>

#include "model/layers/time_distributed/time_distributed.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class TimeDistributedOperator : public Operator {
 public:
  explicit TimeDistributedOperator(const TimeDistributed& layer)
      : layer_(layer), inner_(OperatorOf(layer.inner())) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];
    ForwardContext own = context;
    own.form = nullptr;
    if (layer_.by_step()) {
      std::vector<at::Tensor> steps;
      for (const at::Tensor& step : x.unbind(1)) {
        steps.push_back(inner_->Forward({step}, weights, own));
      }
      return at::stack(steps, 1);
    }
    // Steps are more examples.
    std::vector<int64_t> sizes(x.sizes().begin() + 1, x.sizes().end());
    sizes[0] *= x.size(0);
    const at::Tensor y = inner_->Forward({x.reshape(sizes)}, weights, own);
    sizes.assign(y.sizes().begin(), y.sizes().end());
    sizes[0] = x.size(1);
    sizes.insert(sizes.begin(), x.size(0));
    return y.reshape(sizes);
  }

  bool float_weights() const override { return inner_->float_weights(); }

 private:
  const TimeDistributed& layer_;
  const std::unique_ptr<Operator> inner_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const TimeDistributed& layer) {
  return std::make_unique<TimeDistributedOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
