// Conv2D over images of height x width x channels.
#pragma once

#include "model/activation.h"
#include "model/layers/conv_2d/conv_window.h"

namespace hopper {
namespace layers {

struct Conv2D : Layer, ConvWindow {
  static constexpr const char* kName = "Conv2D";
  static std::vector<std::string> FormerNames() { return {"Convolution2D"}; }
  static constexpr const char* kWeights = "kernel, bias";
  static constexpr const char* kDescription = "convolution over images";

  explicit Conv2D(LayerConfig& config) : Conv2D(config, /*axes=*/2) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }

  int64_t filters;
  int64_t groups;
  bool use_bias;
  ActivationSpec activation;
  WeightRules kernel_rules;
  WeightRules bias_rules;

 protected:
  // One axis: a series, which is an image of height 1.
  Conv2D(LayerConfig& config, size_t axes);
};
std::unique_ptr<Operator> MakeOperator(const Conv2D& layer);
std::unique_ptr<PlannedOp> Plan(const Conv2D& layer, PlanNode* node);
ops::Value Export(const Conv2D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
