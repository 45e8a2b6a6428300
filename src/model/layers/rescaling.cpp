// Rescaling: x * scale + offset.
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>

#include "model/planned_op.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
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
#endif

class Rescaling : public Layer {
 public:
  explicit Rescaling(LayerConfig& config)
      : Layer(config), scale_(config.Number("scale", 1.0)), offset_(config.Number("offset", 0.0)) {
    if (!config.Has("scale")) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"scale\" is missing");
    }
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    if (inputs.size() != 1) {
      throw Error(ErrorCode::kInvalidParameter, "layer \"" + name() +
                                                    "\" of class Rescaling needs one input, not " +
                                                    std::to_string(inputs.size()));
    }
    return inputs[0];
  }

  int64_t Flops(const std::vector<Shape>&, const Shape& output) const override {
    return 2 * ElementCount(output);
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    at::Tensor y = at::mul(inputs[0], scale_);
    if (offset_ != 0.0) y.add_(offset_);
    return y;
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    return std::make_unique<PlannedRescaling>(node, scale_, offset_);
  }
#endif

 private:
  double scale_;
  double offset_;
};

}  // namespace

std::unique_ptr<Layer> MakeRescaling(LayerConfig& config) {
  return std::make_unique<Rescaling>(config);
}

}  // namespace hopper
