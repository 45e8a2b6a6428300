#include <algorithm>

#include "model/layers/layer_scale/layer_scale.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedLayerScale : public PlannedOp {
 public:
  explicit PlannedLayerScale(PlanNode* node)
      : node_(*node), size_(node->output->size), columns_(node->output->shape.back()) {
    node->keeps_inputs = node->weights[0].trainable;
    if (!node->backward) return;
    sums_ = node->Scratch({columns_}, PlanNode::During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    const float* gamma = step.params + node_.weights[0].offset;
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    for (int64_t first = 0; first < size_; first += columns_) {
      for (int64_t j = 0; j < columns_; ++j) y[first + j] = x[first + j] * gamma[j];
    }
  }

  void Backward(const StepArguments& step) override {
    float* dy = node_.output->gradient->data;
    if (node_.weights[0].trainable) {
      const float* x = node_.inputs[0]->value->data;
      float* sums = sums_->data;
      std::fill_n(sums, columns_, 0.0F);
      for (int64_t first = 0; first < size_; first += columns_) {
        for (int64_t j = 0; j < columns_; ++j) sums[j] += dy[first + j] * x[first + j];
      }
      node_.DeliverGradient(sums, columns_, 0, step);
    }
    if (!node_.InputNeedsGradient(0)) return;
    const float* gamma = step.params + node_.weights[0].offset;
    float* dx = node_.inputs[0]->gradient->data;
    const bool adds = node_.input_accumulates[0] != 0;
    for (int64_t first = 0; first < size_; first += columns_) {
      for (int64_t j = 0; j < columns_; ++j) {
        const float d = dy[first + j] * gamma[j];
        dx[first + j] = adds ? dx[first + j] + d : d;
      }
    }
  }

 private:
  const PlanNode& node_;
  const int64_t size_;
  const int64_t columns_;
  PlanBuffer* sums_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const LayerScale& /*layer*/, PlanNode* node) {
  return std::make_unique<PlannedLayerScale>(node);
}

}  // namespace layers
}  // namespace hopper
