// Dense: activation(x * kernel + bias) on the last axis of any rank.
#pragma once

#include "model/activation.h"
#include "model/layer.h"

namespace hopper {
namespace layers {

struct Dense : Layer {
  static constexpr const char* kName = "Dense";
  static constexpr const char* kWeights = "kernel, bias";
  static constexpr const char* kDescription = "fully connected: activation(x * kernel + bias)";

  explicit Dense(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }
  Masking masking() const override { return Masking::kCarries; }

  int64_t units;
  bool use_bias;
  ActivationSpec activation;
  WeightRules kernel_rules;
  WeightRules bias_rules;
};
std::unique_ptr<Operator> MakeOperator(const Dense& layer);
std::unique_ptr<PlannedOp> Plan(const Dense& layer, PlanNode* node);
ops::Value Export(const Dense& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
