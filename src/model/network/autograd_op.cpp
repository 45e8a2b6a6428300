// Layers without a planned op: autograd between two planned ops.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <cstring>

#include "model/batch_sizes.h"
#include "model/network/network.h"

namespace hopper {
namespace {

// A view of planned memory; needs no gradient.
at::Tensor ViewOf(float* data, int64_t batch, const Shape& shape) {
  return at::from_blob(data, WithBatch(batch, shape), at::TensorOptions().dtype(at::kFloat));
}

class LayerAutogradOp : public AutogradOp {
 public:
  LayerAutogradOp(const Network& network, int layer_index, PlanNode* node)
      : network_(network), layer_index_(layer_index), node_(node) {
    node->keeps_inputs = true;  // autograd keeps views of them
    context_.training = node->training;
    context_.seed = node->seed;
    context_.layer = node->stream;
    context_.linear = node->linear;
    context_.form = node->form;
  }

  void Forward(const StepArguments& step) override {
    const c10::InferenceMode no_inference(false);
    const at::AutoGradMode gradients(node_->backward);
    inputs_.clear();
    for (const PlanValue* input : node_->inputs) {
      inputs_.push_back(ViewOf(input->value->data, node_->batch, input->shape));
      if (node_->backward && input->gradient != nullptr) inputs_.back().set_requires_grad(true);
    }
    weights_ = network_.BindWeights(layer_index_, step.params);
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (node_->weights[i].trainable) weights_[i].set_requires_grad(true);
    }
    context_.step = step.step;
    context_.dropout_factor = step.dropout_factor;
    output_ = network_.op(layer_index_).Forward(inputs_, weights_, context_);
    const at::NoGradGuard no_grad;
    ViewOf(node_->output->value->data, node_->batch, node_->output->shape).copy_(output_.detach());
    if (!node_->backward) Release();
  }

  void Backward(const StepArguments& step) override {
    const c10::InferenceMode no_inference(false);
    if (output_.requires_grad()) {
      const at::AutoGradMode gradients(true);
      output_.backward(ViewOf(node_->output->gradient->data, node_->batch, node_->output->shape));
    }
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const PlanValue& input = *node_->inputs[i];
      if (input.gradient == nullptr) continue;
      Deliver(inputs_[i].grad(), ViewOf(input.gradient->data, node_->batch, input.shape),
              node_->input_accumulates[i] != 0);
    }
    const std::vector<at::Tensor> to = network_.BindWeights(layer_index_, step.gradients);
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (!node_->weights[i].trainable) continue;
      Deliver(weights_[i].grad(), to[i], node_->weight_accumulates[i] != 0);
    }
    Release();
  }

  void Release() override {
    output_.reset();
    inputs_.clear();
    weights_.clear();
  }

 private:
  static void Deliver(const at::Tensor& gradient, at::Tensor to, bool accumulate) {
    if (!gradient.defined()) {
      if (!accumulate) to.zero_();
    } else if (accumulate) {
      to.add_(gradient);
    } else {
      to.copy_(gradient);
    }
  }

  const Network& network_;
  const int layer_index_;
  const PlanNode* node_;
  ForwardContext context_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> weights_;
  at::Tensor output_;
};

}  // namespace

std::unique_ptr<AutogradOp> Network::MakeAutogradOp(int layer, PlanNode* node) const {
  return std::make_unique<LayerAutogradOp>(*this, layer, node);
}

}  // namespace hopper
