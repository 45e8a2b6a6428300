// Two planned ops, with a tensor between them that is the node's own.
#include "model/layers/conv_2d/planned.h"

#include "model/layers/depthwise_conv_2d/planned.h"
#include "model/layers/separable_conv_2d/separable_conv_2d.h"
#include "model/planned/planned_bf16.h"

namespace hopper {
namespace layers {
namespace {

using During = PlanNode::During;

class PlannedSeparable : public PlannedOp {
 public:
  PlannedSeparable(PlanNode* node, const SeparableConv2D& layer)
      : node_(*node), depthwise_(node->Inner()), pointwise_(node->Inner()) {
    between_.shape = node->output->shape;
    between_.shape[2] = node->inputs[0]->shape[2];
    between_.size = node->output->size / node->output->shape[2] * between_.shape[2];
    between_.value =
        node->Scratch({between_.size}, node->backward ? During::kBoth : During::kForward);
    depthwise_->inputs = node->inputs;
    depthwise_->output = &between_;
    depthwise_->weights = {node->weights[0]};
    depthwise_->backward =
        node->backward && (node->weights[0].trainable || node->InputNeedsGradient(0));
    if (depthwise_->backward) {
      between_.gradient = node->Scratch({between_.size}, During::kBackward);
    }
    depthwise_op_ = MakePlannedDepthwise(depthwise_.get(), layer.depthwise, {});
    pointwise_->inputs = {&between_};
    pointwise_->output = node->output;
    pointwise_->weights.assign(node->weights.begin() + 1, node->weights.end());
    ConvSizes pixel;
    pixel.kernel_height = pixel.kernel_width = 1;
    pixel.stride_height = pixel.stride_width = 1;
    pixel.height.output = between_.shape[0];
    pixel.width.output = between_.shape[1];
    pixel.use_bias = layer.use_bias;
    pointwise_op_ =
        RoundsOperands(*node, node->output->size / layer.filters, layer.filters, between_.shape[2])
            ? MakePlannedConv2DBf16(pointwise_.get(), pixel, layer.activation)
            : MakePlannedConv2D(pointwise_.get(), pixel, layer.activation);
    pointwise_->input_accumulates = {0};
    node->keeps_inputs = depthwise_->keeps_inputs;
    node->keeps_output = pointwise_->keeps_output;
    node->reads_shadow = pointwise_->reads_shadow;
    node->TakeRequests(depthwise_.get());
    node->TakeRequests(pointwise_.get());
  }

  void Forward(const StepArguments& step) override {
    depthwise_op_->Forward(step);
    pointwise_op_->Forward(step);
  }

  void Backward(const StepArguments& step) override {
    depthwise_->input_accumulates = node_.input_accumulates;
    depthwise_->weight_accumulates = {node_.weight_accumulates[0]};
    pointwise_->weight_accumulates.assign(node_.weight_accumulates.begin() + 1,
                                          node_.weight_accumulates.end());
    pointwise_op_->Backward(step);
    if (depthwise_->backward) depthwise_op_->Backward(step);
  }

 private:
  const PlanNode& node_;
  PlanValue between_;
  const std::unique_ptr<PlanNode> depthwise_;
  const std::unique_ptr<PlanNode> pointwise_;
  std::unique_ptr<PlannedOp> depthwise_op_;
  std::unique_ptr<PlannedOp> pointwise_op_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const SeparableConv2D& layer, PlanNode* node) {
  const bool applies = AppliesActivation(layer.activation, *node);
  if (layer.depthwise.multiplier != 1 ||
      !PlannedActivation::Supports(layer.activation, applies, node->output->shape)) {
    return nullptr;
  }
  return std::make_unique<PlannedSeparable>(node, layer);
}

}  // namespace layers
}  // namespace hopper
