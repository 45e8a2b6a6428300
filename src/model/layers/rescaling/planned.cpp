#include "model/layers/rescaling/rescaling.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedRescaling : public PlannedOp {
 public:
  PlannedRescaling(PlanNode* node, double scale, double offset)
      : node_(*node), scale_(static_cast<float>(scale)), offset_(static_cast<float>(offset)) {}

  void Forward(const StepArguments&) override {
    node_.kernels->scale(node_.inputs[0]->value->data, scale_, offset_, node_.output->size,
                         node_.output->value->data);
  }
  void Backward(const StepArguments&) override {
    const float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    if (node_.input_accumulates[0]) {
      node_.kernels->add_scaled(dy, scale_, node_.output->size, dx);
    } else {
      node_.kernels->scale(dy, scale_, 0.0F, node_.output->size, dx);
    }
  }

 private:
  const PlanNode& node_;
  const float scale_;
  const float offset_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Rescaling& layer, PlanNode* node) {
  if (layer.scale.size() != 1 || layer.offset.size() != 1) return nullptr;
  return std::make_unique<PlannedRescaling>(node, layer.scale[0], layer.offset[0]);
}

}  // namespace layers
}  // namespace hopper
