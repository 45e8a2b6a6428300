#include "model/layers/separable_conv_1d/separable_conv_1d.h"

namespace hopper {
namespace layers {
namespace {

Shape AsSeries(const Shape& image) { return {image[1], image[2]}; }

}  // namespace

Shape DepthwiseConv1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  return AsSeries(DepthwiseConv2D::OutputShape({AsImage(inputs[0])}));
}

std::vector<WeightSpec> DepthwiseConv1D::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights = DepthwiseConv2D::Weights({AsImage(inputs[0])});
  weights[0].shape.erase(weights[0].shape.begin());
  return weights;
}

int64_t DepthwiseConv1D::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return DepthwiseConv2D::Flops({AsImage(inputs[0])}, AsImage(output));
}

Shape SeparableConv1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  return AsSeries(SeparableConv2D::OutputShape({AsImage(inputs[0])}));
}

std::vector<WeightSpec> SeparableConv1D::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights = SeparableConv2D::Weights({AsImage(inputs[0])});
  for (size_t i = 0; i < 2; ++i) weights[i].shape.erase(weights[i].shape.begin());
  return weights;
}

int64_t SeparableConv1D::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return SeparableConv2D::Flops({AsImage(inputs[0])}, AsImage(output));
}

int64_t SeparableConv1D::AutogradFloats(const std::vector<Shape>& inputs,
                                        const Shape& output) const {
  return SeparableConv2D::AutogradFloats({AsImage(inputs[0])}, AsImage(output));
}

}  // namespace layers
}  // namespace hopper
