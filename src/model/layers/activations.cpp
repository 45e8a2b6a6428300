// The layers that only apply an activation: Activation, ReLU, LeakyReLU, ELU, Softmax.
#include "model/layers/activation.h"
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include "model/layers/planned_activation.h"
#include "model/layers/planned_activation_layers.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
class PlannedActivationOp : public PlannedOp {
 public:
  PlannedActivationOp(PlanNode* node, const ActivationSpec& activation)
      : node_(*node), activation_(node, activation) {
    node->keeps_output = activation_.keeps_output();
  }

  void Forward(const StepArguments&) override {
    activation_.Forward(node_.inputs[0]->value->data, node_.output->value->data);
  }

  void Backward(const StepArguments&) override {
    const float* y = node_.output->value->data;
    float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    if (!node_.input_accumulates[0]) return activation_.Backward(y, dy, dx);
    activation_.Backward(y, dy, dy);
    node_.kernels->add(dy, node_.output->size, dx);
  }

 private:
  const PlanNode& node_;
  const PlannedActivation activation_;
};
#endif

class ActivationLayer : public Layer {
 public:
  ActivationLayer(const LayerConfig& config, const ActivationSpec& activation)
      : Layer(config), activation_(activation) {}

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    if (inputs.size() != 1) {
      throw Error(ErrorCode::kInvalidParameter, "layer \"" + name() + "\" of class " +
                                                    class_name() + " needs one input, not " +
                                                    std::to_string(inputs.size()));
    }
    const int rank = static_cast<int>(inputs[0].size()) + 1;  // with the batch, as Keras counts
    if (activation_.kind == Activation::kSoftmax &&
        (activation_.axis >= rank || activation_.axis < 1 - rank || activation_.axis == 0)) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class " + class_name() + ": axis " +
                      std::to_string(activation_.axis) + " does not exist in an input of shape " +
                      ShapeText(inputs[0]));
    }
    if (activation_.kind != Activation::kGlu) return inputs[0];
    if (inputs[0].empty() || inputs[0].back() % 2 != 0) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class " + class_name() +
                      ": glu needs an even last axis, not an input of shape " +
                      ShapeText(inputs[0]));
    }
    Shape output = inputs[0];
    output.back() /= 2;
    return output;
  }

  int64_t Flops(const std::vector<Shape>&, const Shape& output) const override {
    return activation_.kind == Activation::kLinear ? 0 : ElementCount(output);
  }

  Activation FinalActivation() const override { return LogitActivation(activation_); }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    return AppliesActivation(activation_, context) ? Activate(inputs[0], activation_) : inputs[0];
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    node->alias = !AppliesActivation(activation_, *node);
    if (node->alias) return nullptr;
    if (activation_.kind == Activation::kGlu) return MakePlannedGlu(node);
    if (!PlannedActivation::Supports(activation_, true, node->output->shape)) {
      return activation_.kind == Activation::kSoftmax ? MakePlannedSoftmax(node, activation_.axis)
                                                      : nullptr;
    }
    return std::make_unique<PlannedActivationOp>(node, activation_);
  }
#endif

 private:
  ActivationSpec activation_;
};

}  // namespace

std::unique_ptr<Layer> MakeActivation(LayerConfig& config) {
  if (!config.Has("activation")) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"activation\" is missing");
  }
  return std::make_unique<ActivationLayer>(config, config.GetActivation("activation"));
}

std::unique_ptr<Layer> MakeReLU(LayerConfig& config) {
  ActivationSpec activation;
  activation.kind = Activation::kRelu;
  if (config.Has("max_value")) {
    activation.max_value = config.Number("max_value", 0.0);
    if (activation.max_value < 0.0) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"max_value\" must not be negative");
    }
  }
  activation.alpha = config.Number("negative_slope", 0.0);
  activation.threshold = config.Number("threshold", 0.0);
  return std::make_unique<ActivationLayer>(config, activation);
}

std::unique_ptr<Layer> MakeLeakyReLU(LayerConfig& config) {
  ActivationSpec activation;
  activation.kind = Activation::kLeakyRelu;
  activation.alpha = config.Has("alpha") ? config.Number("alpha", 0.3)  // Keras 2's name
                                         : config.Number("negative_slope", 0.3);
  return std::make_unique<ActivationLayer>(config, activation);
}

std::unique_ptr<Layer> MakeELU(LayerConfig& config) {
  ActivationSpec activation;
  activation.kind = Activation::kElu;
  activation.alpha = config.Number("alpha", 1.0);
  return std::make_unique<ActivationLayer>(config, activation);
}

std::unique_ptr<Layer> MakeSoftmax(LayerConfig& config) {
  ActivationSpec activation;
  activation.kind = Activation::kSoftmax;
  activation.axis = static_cast<int>(config.Ints("axis", 1, {-1})[0]);
  return std::make_unique<ActivationLayer>(config, activation);
}

}  // namespace hopper
