// What the layers that only apply an activation are: each has a header beside this one, which reads
// its attributes.
#pragma once

#include "model/activation.h"
#include "model/layer.h"

namespace hopper {
namespace layers {

struct ActivationLayer : Layer {
  // Whether it can stand where another layer's activation does.
  static constexpr bool kActivates = true;

  using Layer::Layer;
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }
  Masking masking() const override { return Masking::kCarries; }
  Passes PassesOn(const Shape& /*input*/) const override {
    return activation.kind == Activation::kLinear ? Passes::kRows : Passes::kNothing;
  }

  ActivationSpec activation;
};
std::unique_ptr<Operator> MakeOperator(const ActivationLayer& layer);
std::unique_ptr<PlannedOp> Plan(const ActivationLayer& layer, PlanNode* node);
ops::Value Export(const ActivationLayer& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
