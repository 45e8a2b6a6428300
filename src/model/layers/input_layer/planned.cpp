#include <cstddef>
#include <cstring>

#include "model/layers/input_layer/input_layer.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedInput : public PlannedOp {
 public:
  PlannedInput(const InputLayer& layer, PlanNode* node)
      : node_(*node),
        first_(layer.first),
        row_(ElementCount(node->inputs[0]->shape)),
        part_(ElementCount(layer.shape)) {}

  void Forward(const StepArguments&) override {
    const float* x = node_.inputs[0]->value->data + first_;
    float* y = node_.output->value->data;
    for (int64_t i = 0; i < node_.batch; ++i) {
      std::memcpy(y + i * part_, x + i * row_, static_cast<size_t>(part_) * sizeof(float));
    }
  }
  // Where the gradient of what a model is given is wanted: the parts do not overlap.
  void Backward(const StepArguments&) override {
    if (!node_.InputNeedsGradient(0)) return;
    float* dx = node_.inputs[0]->gradient->data;
    const float* dy = node_.output->gradient->data;
    if (!node_.input_accumulates[0]) {
      std::memset(dx, 0, static_cast<size_t>(node_.inputs[0]->size) * sizeof(float));
    }
    for (int64_t i = 0; i < node_.batch; ++i) {
      node_.kernels->add(dy + i * part_, part_, dx + i * row_ + first_);
    }
  }

 private:
  const PlanNode& node_;
  const int64_t first_;
  const int64_t row_;
  const int64_t part_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const InputLayer& layer, PlanNode* node) {
  return std::make_unique<PlannedInput>(layer, node);
}

}  // namespace layers
}  // namespace hopper
