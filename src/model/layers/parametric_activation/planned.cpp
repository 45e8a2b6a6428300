#include <algorithm>

#include "activation/activation_type.h"
#include "model/layers/parametric_activation/parametric_activation.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedParametricActivation : public PlannedOp {
 public:
  PlannedParametricActivation(PlanNode* node, const ActivationForm& form)
      : node_(*node),
        form_(form),
        kernels_(*node->kernels),
        size_(node->output->size),
        columns_(node->output->shape.back()),
        values_(node->Scratch(
            {size_}, node->backward ? PlanNode::During::kBoth : PlanNode::During::kForward)) {
    node->keeps_inputs = true;
    if (!node->backward) return;
    if (!form.of_result) derivatives_ = node->Scratch({size_}, PlanNode::During::kBoth);
    parts_ = node->Scratch({size_}, PlanNode::During::kBackward);
    sums_ = node->Scratch({columns_}, PlanNode::During::kBackward);
  }

  void Forward(const StepArguments& step) override {
    const float* x = node_.inputs[0]->value->data;
    const float* alpha = step.params + node_.weights[0].offset;
    kernels_.activate(form_, x, size_, values_->data,
                      derivatives_ == nullptr ? nullptr : derivatives_->data);
    float* y = node_.output->value->data;
    for (int64_t first = 0; first < size_; first += columns_) {
      const float* from = x + first;
      const float* value = values_->data + first;
      float* to = y + first;
      for (int64_t j = 0; j < columns_; ++j) to[j] = from[j] + (value[j] - from[j]) * alpha[j];
    }
  }

  void Backward(const StepArguments& step) override {
    const float* x = node_.inputs[0]->value->data;
    const float* alpha = step.params + node_.weights[0].offset;
    float* dy = node_.output->gradient->data;
    float* sums = sums_->data;
    std::fill_n(sums, columns_, 0.0F);
    // dy becomes the part that passes beside the activation.
    for (int64_t first = 0; first < size_; first += columns_) {
      const float* from = x + first;
      const float* value = values_->data + first;
      float* part = parts_->data + first;
      float* d = dy + first;
      for (int64_t j = 0; j < columns_; ++j) {
        sums[j] += d[j] * (value[j] - from[j]);
        part[j] = d[j] * alpha[j];
        d[j] -= part[j];
      }
    }
    if (node_.weights[0].trainable) node_.DeliverGradient(sums, columns_, 0, step);
    if (!node_.InputNeedsGradient(0)) return;
    if (derivatives_ == nullptr) {
      kernels_.activate_gradient(form_, values_->data, parts_->data, size_, parts_->data);
    } else {
      kernels_.multiply(derivatives_->data, size_, parts_->data);
    }
    float* dx = node_.inputs[0]->gradient->data;
    if (node_.input_accumulates[0] == 0) {
      if (dx != dy) std::copy_n(dy, size_, dx);
    } else {
      kernels_.add(dy, size_, dx);
    }
    kernels_.add(parts_->data, size_, dx);
  }

 private:
  const PlanNode& node_;
  const ActivationForm form_;
  const Kernels& kernels_;
  const int64_t size_;
  const int64_t columns_;
  PlanBuffer* values_;
  PlanBuffer* derivatives_ = nullptr;
  PlanBuffer* parts_ = nullptr;
  PlanBuffer* sums_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const ParametricActivation& layer, PlanNode* node) {
  const ActivationForm form = FormOf(layer.activation);
  if (form.place < 0) return nullptr;
  return std::make_unique<PlannedParametricActivation>(node, form);
}

}  // namespace layers
}  // namespace hopper
