// Conv2DTranspose, and Conv1DTranspose over series, which are images of height 1: each input adds
// the kernel times its value to the outputs around its place.
#pragma once

#include "model/activation.h"
#include "model/layers/window.h"

namespace hopper {
namespace layers {

struct Conv2DTranspose : Layer {
  static constexpr const char* kName = "Conv2DTranspose";
  static constexpr const char* kWeights = "kernel, bias";
  static constexpr const char* kDescription = "transposed convolution, which enlarges images";

  explicit Conv2DTranspose(LayerConfig& config) : Conv2DTranspose(config, /*axes=*/2) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return LogitActivation(activation); }

  // Along an axis (0: height, 1: width).
  struct Axis {
    int64_t whole = 0;   // what the kernel reaches
    int64_t before = 0;  // of it, cut off at the start
    int64_t output = 0;  // what is left; beyond `whole` are zeros
  };
  Axis Spread(int64_t size, int axis) const;

  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  std::vector<int64_t> output_padding;  // -1: Keras' own rule
  bool same;
  int64_t filters;
  bool use_bias;
  ActivationSpec activation;
  WeightRules kernel_rules;
  WeightRules bias_rules;

 protected:
  Conv2DTranspose(LayerConfig& config, size_t axes);
};
std::unique_ptr<Operator> MakeOperator(const Conv2DTranspose& layer);
ops::Value Export(const Conv2DTranspose& layer, const ExportCall& call);

struct Conv1DTranspose : Conv2DTranspose {
  static constexpr const char* kName = "Conv1DTranspose";
  static constexpr const char* kDescription = "transposed convolution, which lengthens series";
  static constexpr const char* kSince = "2.4";

  explicit Conv1DTranspose(LayerConfig& config) : Conv2DTranspose(config, /*axes=*/1) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const Conv1DTranspose& layer);
ops::Value Export(const Conv1DTranspose& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
