#include <algorithm>
#include <cmath>

#include "model/layers/temperature/temperature.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedTemperature : public PlannedOp {
 public:
  PlannedTemperature(PlanNode* node, double temperature)
      : node_(*node),
        kernels_(*node->kernels),
        share_(static_cast<float>(1.0 / temperature)),
        size_(node->output->size),
        columns_(node->output->shape.back()),
        most_(columns_ > 1 ? INFINITY : kMostProbability) {
    node->keeps_inputs = true;
    node->keeps_output = true;
    if (node->backward) slopes_ = node->Scratch({size_}, PlanNode::During::kBackward);
  }

  void Forward(const StepArguments&) override {
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    for (int64_t i = 0; i < size_; ++i) {
      const float p = std::clamp(x[i], kLeastProbability, most_);
      y[i] = share_ * (columns_ > 1 ? std::log(p) : std::log(p) - std::log1p(-p));
    }
    if (columns_ > 1) return kernels_.softmax(y, size_ / columns_, columns_, y);
    for (int64_t i = 0; i < size_; ++i) y[i] = 1.0F / (1.0F + std::exp(-y[i]));
  }

  void Backward(const StepArguments&) override {
    const float* x = node_.inputs[0]->value->data;
    const float* y = node_.output->value->data;
    const float* dy = node_.output->gradient->data;
    float* dz = slopes_->data;
    if (columns_ > 1) {
      kernels_.softmax_gradient(y, dy, size_ / columns_, columns_, /*adds=*/false, dz);
    } else {
      for (int64_t i = 0; i < size_; ++i) dz[i] = dy[i] * y[i] * (1.0F - y[i]);
    }
    float* dx = node_.inputs[0]->gradient->data;
    const bool adds = node_.input_accumulates[0] != 0;
    for (int64_t i = 0; i < size_; ++i) {
      const bool inside = x[i] >= kLeastProbability && x[i] <= most_;
      const float slope = columns_ > 1 ? x[i] : x[i] * (1.0F - x[i]);
      const float d = inside ? share_ * dz[i] / slope : 0.0F;
      dx[i] = adds ? dx[i] + d : d;
    }
  }

 private:
  const PlanNode& node_;
  const Kernels& kernels_;
  const float share_;  // 1 / T
  const int64_t size_;
  const int64_t columns_;
  const float most_;
  PlanBuffer* slopes_ = nullptr;  // of what the softmax or sigmoid is taken of
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Temperature& layer, PlanNode* node) {
  return std::make_unique<PlannedTemperature>(node, layer.temperature);
}

}  // namespace layers
}  // namespace hopper
