#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sum.h>

#include "model/layers/activity_regularization/activity_regularization.h"
#include "model/network/lanes.h"

namespace hopper {
namespace layers {
namespace {

class ActivityRegularizationOperator : public Operator {
 public:
  explicit ActivityRegularizationOperator(const ActivityRegularization& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    return Regulate(inputs[0].unsqueeze(0), context.penalties).squeeze(0);
  }

  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs, const std::vector<at::Tensor>&,
                         const LaneContext& context) const override {
    return LaneValue(Regulate(inputs[0].Stacked(), context.penalties));
  }

 private:
  // x is [lanes, batch, ...].
  at::Tensor Regulate(const at::Tensor& x, std::vector<at::Tensor>* penalties) const {
    const auto batch = static_cast<double>(x.size(1));
    const double l1 = layer_.l1 / batch;
    const double l2 = layer_.l2 / batch;
    const at::Tensor values = x.detach();
    if (penalties != nullptr) {
      const at::NoGradGuard no_grad;
      const at::Tensor flat = values.reshape({x.size(0), x.size(1), -1}).to(at::kDouble);
      const at::Tensor examples =
          at::sum(at::abs(flat), {2}) * layer_.l1 + at::sum(flat * flat, {2}) * layer_.l2;
      // Rounded as losses are: sums do not depend on the order.
      penalties->push_back(at::sum(examples.to(at::kFloat), {1}, false, at::kDouble));
    }
    // The penalty's gradient joins that of all that comes after.
    at::Tensor y = x.alias();
    if (y.requires_grad()) {
      y.register_hook([values, l1, l2](const at::Tensor& gradient) {
        const at::NoGradGuard no_grad;
        return gradient + at::sign(values) * l1 + values * (2.0 * l2);
      });
    }
    return y;
  }

  const ActivityRegularization& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const ActivityRegularization& layer) {
  return std::make_unique<ActivityRegularizationOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
