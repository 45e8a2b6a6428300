// An activation with a trained share of it for each place of the last axis, RealMLP's parametric
// form: x + (f(x) - x) * alpha, which is f at first.
#pragma once

#include "model/activation.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct ParametricActivation : SameShape {
  static constexpr const char* kName = "ParametricActivation";
  static constexpr const char* kWeights = "alpha";
  static constexpr const char* kDescription =
      "an activation with a trained share of it for each feature";
  static constexpr const char* kSince = kOwnLayer;

  explicit ParametricActivation(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCarries; }

  ActivationSpec activation;
  WeightRules alpha_rules;
};
std::unique_ptr<Operator> MakeOperator(const ParametricActivation& layer);
std::unique_ptr<PlannedOp> Plan(const ParametricActivation& layer, PlanNode* node);
ops::Value Export(const ParametricActivation& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
