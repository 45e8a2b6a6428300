// Dense: activation(x * kernel + bias) on the last axis of any rank.
#include "model/lane_layer.h"
#include "model/layers/activation.h"
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>

#include "model/layers/planned_activation.h"
#include "model/layers/planned_bf16.h"
#include "model/layers/planned_matrix.h"
#include "model/network/lanes.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
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
    if (node->backward && node->InputNeedsGradient(0)) {
      const int64_t size = PlannedInputScratch(rows_, columns_, length_);
      if (size > 0) transposed_ = node->Scratch({size}, PlanNode::During::kBackward);
    }
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
                           transposed_ == nullptr ? nullptr : transposed_->data,
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
  PlanBuffer* transposed_ = nullptr;
  PlanBuffer* sums_ = nullptr;
};
#endif

class Dense : public Layer, public LaneLayer {
 public:
  explicit Dense(LayerConfig& config)
      : Layer(config),
        units_(config.Int("units", 0)),
        use_bias_(config.Bool("use_bias", true)),
        activation_(config.GetActivation("activation")),
        kernel_initializer_(config.GetInitializer("kernel_initializer", "glorot_uniform")),
        bias_initializer_(config.GetInitializer("bias_initializer", "zeros")),
        kernel_regularizer_(config.GetRegularizer("kernel_regularizer")),
        bias_regularizer_(config.GetRegularizer("bias_regularizer")) {
    if (units_ < 1) {
      config.Fail(ErrorCode::kInvalidParameter,
                  "argument \"units\" must be at least 1, not " + std::to_string(units_));
      units_ = 1;
    }
    for (const char* key : {"activity_regularizer", "kernel_constraint", "bias_constraint",
                            "lora_rank", "quantization_config"}) {
      config.RequireUnset(key);
    }
    config.Ignore("lora_alpha");
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    if (inputs.size() != 1 || inputs[0].empty()) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class Dense needs one input of rank 1 or more");
    }
    Shape output = inputs[0];
    output.back() = units_;
    return output;
  }

  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override {
    std::vector<WeightSpec> weights(use_bias_ ? 2 : 1);
    weights[0].name = "kernel";
    weights[0].shape = {inputs[0].back(), units_};
    weights[0].initializer = kernel_initializer_;
    weights[0].regularizer = kernel_regularizer_;
    if (use_bias_) {
      weights[1].name = "bias";
      weights[1].shape = {units_};
      weights[1].initializer = bias_initializer_;
      weights[1].regularizer = bias_regularizer_;
    }
    return weights;
  }

  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override {
    return ElementCount({ElementCount(output), 2 * inputs[0].back() + (use_bias_ ? 1 : 0)});
  }

  Activation FinalActivation() const override { return LogitActivation(activation_); }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    const at::Tensor& input = inputs[0];
    const bool matrix = input.dim() == 2;
    const at::Tensor rows = matrix ? input : input.reshape({-1, input.size(-1)});
    at::Tensor y = use_bias_ ? at::addmm(weights[1], rows, weights[0]) : at::mm(rows, weights[0]);
    const bool activate = AppliesActivation(activation_, context);
    const bool by_element = ActsByElement(activation_);
    if (activate && (by_element || matrix)) y = ActivateOwned(std::move(y), activation_);
    if (!matrix) {
      std::vector<int64_t> sizes = input.sizes().vec();
      sizes.back() = units_;
      y = y.view(sizes);
      if (activate && !by_element) y = Activate(y, activation_);
    }
    return y;
  }

  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                         const std::vector<at::Tensor>& weights,
                         const LaneContext& context) const override {
    const at::Tensor& input = inputs[0].Stacked();
    const at::Tensor rows =
        input.dim() == 3 ? input : input.reshape({input.size(0), -1, input.size(-1)});
    at::Tensor y = use_bias_ ? at::baddbmm(weights[1].unsqueeze(1), rows, weights[0])
                             : at::bmm(rows, weights[0]);
    const bool applies = AppliesActivation(activation_, context.linear);
    const bool by_element = ActsByElement(activation_);
    if (applies && by_element) y = ActivateOwned(std::move(y), activation_);
    std::vector<int64_t> sizes = input.sizes().vec();
    sizes.back() = units_;
    if (input.dim() != 3) y = y.view(sizes);
    if (applies && !by_element) {
      // An axis is counted as in one lane.
      sizes[1] *= sizes[0];
      const std::vector<int64_t> folded(sizes.begin() + 1, sizes.end());
      const std::vector<int64_t> lanes = y.sizes().vec();
      y = Activate(y.view(folded), activation_).view(lanes);
    }
    return LaneValue(y);
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    const bool applies = AppliesActivation(activation_, *node);
    if (!PlannedActivation::Supports(activation_, applies, node->output->shape)) return nullptr;
    if (node->bf16 != nullptr) return MakePlannedDenseBf16(node, activation_, use_bias_);
    return std::make_unique<PlannedDense>(node, activation_, use_bias_);
  }
#endif

 private:
  int64_t units_;
  bool use_bias_;
  ActivationSpec activation_;
  InitializerSpec kernel_initializer_;
  InitializerSpec bias_initializer_;
  RegularizerSpec kernel_regularizer_;
  RegularizerSpec bias_regularizer_;
};

}  // namespace

std::unique_ptr<Layer> MakeDense(LayerConfig& config) { return std::make_unique<Dense>(config); }

}  // namespace hopper
