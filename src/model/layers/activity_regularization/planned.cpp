#include <cmath>
#include <cstring>

#include "model/layers/activity_regularization/activity_regularization.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class Planned : public PlannedOp {
 public:
  Planned(const ActivityRegularization& layer, PlanNode* node) : layer_(layer), node_(*node) {
    node->keeps_inputs = node->backward;
  }

  void Forward(const StepArguments& step) override {
    const float* x = node_.inputs[0]->value->data;
    const int64_t size = node_.output->size;
    std::memcpy(node_.output->value->data, x, static_cast<size_t>(size) * sizeof(float));
    if (step.penalty == nullptr) return;
    // An example's penalty is rounded to float32, as losses are: sums do not depend on the order.
    const int64_t example = size / node_.batch;
    for (int64_t from = 0; from < size; from += example) {
      double sizes = 0.0, squares = 0.0;
      for (int64_t i = from; i < from + example; ++i) {
        const auto value = static_cast<double>(x[i]);
        sizes += std::fabs(value);
        squares += value * value;
      }
      const double penalty = layer_.l1 * sizes + layer_.l2 * squares;
      *step.penalty += static_cast<double>(static_cast<float>(penalty));
    }
  }

  void Backward(const StepArguments&) override {
    if (!node_.InputNeedsGradient(0)) return;
    const float* x = node_.inputs[0]->value->data;
    const float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    const auto batch = static_cast<double>(node_.batch);
    const auto l1 = static_cast<float>(layer_.l1 / batch);
    const auto twice_l2 = static_cast<float>(2.0 * layer_.l2 / batch);
    const bool accumulates = node_.input_accumulates[0] != 0;
    for (int64_t i = 0; i < node_.output->size; ++i) {
      const float sign = x[i] > 0.0F ? l1 : (x[i] < 0.0F ? -l1 : 0.0F);
      const float gradient = dy[i] + sign + twice_l2 * x[i];
      dx[i] = accumulates ? dx[i] + gradient : gradient;
    }
  }

 private:
  const ActivityRegularization& layer_;
  const PlanNode& node_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const ActivityRegularization& layer, PlanNode* node) {
  return std::make_unique<Planned>(layer, node);
}

}  // namespace layers
}  // namespace hopper
