// SeparableConv2D: a depthwise convolution, whose channels a convolution of single pixels mixes.
#pragma once

#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"

namespace hopper {
namespace layers {

struct SeparableConv2D : Layer {
  static constexpr const char* kName = "SeparableConv2D";
  static constexpr const char* kWeights = "depthwise_kernel, pointwise_kernel, bias";
  static constexpr const char* kDescription =
      "convolution of each channel by itself, then of all channels of a pixel";

  explicit SeparableConv2D(LayerConfig& config) : SeparableConv2D(config, /*axes=*/2) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }

  DepthwiseKernel depthwise;
  int64_t filters;
  bool use_bias;
  ActivationSpec activation;
  WeightRules pointwise_rules;
  WeightRules bias_rules;

 protected:
  // One axis: a series, which is an image of height 1.
  SeparableConv2D(LayerConfig& config, size_t axes);
};
std::unique_ptr<Operator> MakeOperator(const SeparableConv2D& layer);
std::unique_ptr<PlannedOp> Plan(const SeparableConv2D& layer, PlanNode* node);
ops::Value Export(const SeparableConv2D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
