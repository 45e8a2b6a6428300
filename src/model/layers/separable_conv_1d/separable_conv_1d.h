// DepthwiseConv1D and SeparableConv1D over series: those of images of height 1.
#pragma once

#include "model/layers/separable_conv_2d/separable_conv_2d.h"

namespace hopper {
namespace layers {

struct DepthwiseConv1D : DepthwiseConv2D {
  static constexpr const char* kName = "DepthwiseConv1D";
  static constexpr const char* kDescription = "convolution of each feature by itself";
  static constexpr const char* kSince = "2.7";

  explicit DepthwiseConv1D(LayerConfig& config) : DepthwiseConv2D(config, /*axes=*/1) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const DepthwiseConv1D& layer);
std::unique_ptr<PlannedOp> Plan(const DepthwiseConv1D& layer, PlanNode* node);
ops::Value Export(const DepthwiseConv1D& layer, const ExportCall& call);

struct SeparableConv1D : SeparableConv2D {
  static constexpr const char* kName = "SeparableConv1D";
  static constexpr const char* kDescription =
      "convolution of each feature by itself, then of all features of a step";
  static constexpr const char* kSince = "2.1";

  explicit SeparableConv1D(LayerConfig& config) : SeparableConv2D(config, /*axes=*/1) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const SeparableConv1D& layer);
std::unique_ptr<PlannedOp> Plan(const SeparableConv1D& layer, PlanNode* node);
ops::Value Export(const SeparableConv1D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
