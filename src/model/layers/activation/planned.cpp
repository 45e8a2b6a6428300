#include "model/layers/activation/planned_by_axis.h"
#include "model/layers/activation/softmax.h"
#include "model/planned/planned_activation.h"

namespace hopper {
namespace layers {
namespace {

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

}  // namespace

std::unique_ptr<PlannedOp> Plan(const ActivationLayer& layer, PlanNode* node) {
  node->alias = !AppliesActivation(layer.activation, *node);
  if (node->alias) return nullptr;
  if (layer.activation.kind == Activation::kGlu) return MakePlannedGlu(node);
  if (!PlannedActivation::Supports(layer.activation, true, node->output->shape)) {
    return layer.activation.kind == Activation::kSoftmax
               ? MakePlannedSoftmax(node, layer.activation.axis)
               : nullptr;
  }
  return std::make_unique<PlannedActivationOp>(node, layer.activation);
}

std::unique_ptr<PlannedOp> Plan(const Softmax& layer, PlanNode* node) {
  return layer.axes.empty() ? Plan(static_cast<const ActivationLayer&>(layer), node) : nullptr;
}

}  // namespace layers
}  // namespace hopper
