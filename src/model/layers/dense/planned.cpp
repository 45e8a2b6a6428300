#include "model/layers/dense/planned.h"

#include "model/layers/dense/dense.h"
#include "model/planned/planned_bf16.h"
#include "model/planned/planned_matrix.h"

namespace hopper {
namespace layers {
namespace {

class PlannedDense : public PlannedOp {
 public:
  PlannedDense(PlanNode* node, const ActivationSpec& activation, bool use_bias)
      : node_(*node),
        kernels_(*node->kernels),
        activation_(node, activation),
        use_bias_(use_bias),
        length_(node->inputs[0]->shape.back()),
        columns_(node->output->shape.back()),
        rows_(node->output->size / columns_) {
    node->keeps_inputs = node->weights[0].trainable;
    node->keeps_output = activation_.keeps_output();
    if (use_bias && node->weights[1].trainable) {
      sums_ = node->Scratch({columns_}, PlanNode::During::kBackward);
    }
  }

  void Forward(const StepArguments& step) override {
    float* y = node_.output->value->data;
    PlannedProduct(kernels_, node_.team, rows_, columns_, length_, node_.inputs[0]->value->data,
                   step.params + node_.weights[0].offset,
                   use_bias_ ? step.params + node_.weights[1].offset : nullptr, activation_.relu(),
                   y);
    if (!activation_.none() && !activation_.relu()) activation_.Forward(y, y);
  }

  void Backward(const StepArguments& step) override {
    float* dy = node_.output->gradient->data;
    if (!activation_.none()) activation_.Backward(node_.output->value->data, dy, dy);
    if (sums_ != nullptr) {
      float* to = step.gradients + node_.weights[1].offset;
      if (node_.weight_accumulates[1]) {
        kernels_.column_sums(dy, rows_, columns_, sums_->data);
        kernels_.add(sums_->data, columns_, to);
      } else {
        kernels_.column_sums(dy, rows_, columns_, to);
      }
    }
    if (node_.weights[0].trainable) {
      PlannedWeightGradient(kernels_, node_.team, rows_, columns_, length_,
                            node_.inputs[0]->value->data, dy, node_.weight_accumulates[0] != 0,
                            step.gradients + node_.weights[0].offset);
    }
    if (node_.InputNeedsGradient(0)) {
      PlannedInputGradient(kernels_, node_.team, rows_, columns_, length_, dy,
                           step.params + node_.weights[0].offset, node_.input_accumulates[0] != 0,
                           node_.inputs[0]->gradient->data);
    }
  }

 private:
  const PlanNode& node_;
  const Kernels& kernels_;
  const PlannedActivation activation_;
  const bool use_bias_;
  const int64_t length_;
  const int64_t columns_;
  const int64_t rows_;
  PlanBuffer* sums_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Dense& layer, PlanNode* node) {
  const bool applies = AppliesActivation(layer.activation, *node);
  if (!PlannedActivation::Supports(layer.activation, applies, node->output->shape)) return nullptr;
  const int64_t columns = node->output->shape.back();
  if (RoundsOperands(*node, node->output->size / columns, columns, node->inputs[0]->shape.back())) {
    return MakePlannedDenseBf16(node, layer.activation, layer.use_bias);
  }
  return std::make_unique<PlannedDense>(node, layer.activation, layer.use_bias);
}

}  // namespace layers
}  // namespace hopper
