// DepthwiseConv2D: each channel of an image convolved with kernels of its own.
#pragma once

#include "model/activation.h"
#include "model/layers/conv_2d/conv_window.h"

namespace hopper {
namespace layers {

// What SeparableConv2D shares.
struct DepthwiseKernel : ConvWindow {
  DepthwiseKernel(LayerConfig& config, size_t axes);
  Shape OutputShape(const Layer& layer, const std::vector<Shape>& inputs) const;
  WeightSpec Weight(const std::vector<Shape>& inputs, const char* name) const;
  int64_t Flops(const Shape& output) const;

  int64_t multiplier;  // outputs of a channel
  WeightRules rules;
};

struct DepthwiseConv2D : Layer {
  static constexpr const char* kName = "DepthwiseConv2D";
  static constexpr const char* kWeights = "kernel, bias";
  static constexpr const char* kDescription = "convolution of each channel by itself";
  static constexpr const char* kSince = "2.1";

  explicit DepthwiseConv2D(LayerConfig& config) : DepthwiseConv2D(config, /*axes=*/2) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    return depthwise.OutputShape(*this, inputs);
  }
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }

  DepthwiseKernel depthwise;
  bool use_bias;
  ActivationSpec activation;
  WeightRules bias_rules;

 protected:
  // One axis: a series, which is an image of height 1.
  DepthwiseConv2D(LayerConfig& config, size_t axes);
};
std::unique_ptr<Operator> MakeOperator(const DepthwiseConv2D& layer);
std::unique_ptr<PlannedOp> Plan(const DepthwiseConv2D& layer, PlanNode* node);
ops::Value Export(const DepthwiseConv2D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
