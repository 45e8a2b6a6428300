#include "model/layers/steps/steps.h"

#include "model/layers/inputs.h"
#include "model/layers/window.h"

namespace hopper {
namespace layers {
namespace {

std::vector<int64_t> ReadEnds(LayerConfig& config, const char* key) {
  std::vector<int64_t> ends = config.Ints(key, 2, {1, 1});
  for (const int64_t size : ends) {
    if (size >= 0) continue;
    config.Fail(
        ErrorCode::kInvalidParameter,
        "argument \"" + std::string(key) + "\" must not be negative, not " + std::to_string(size));
    return {0, 0};
  }
  return ends;
}

}  // namespace

ZeroPadding1D::ZeroPadding1D(LayerConfig& config)
    : Layer(config), padding(ReadEnds(config, "padding")) {
  ReadDataFormat(config);
}

Shape ZeroPadding1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  return {inputs[0][0] + padding[0] + padding[1], inputs[0][1]};
}

Cropping1D::Cropping1D(LayerConfig& config)
    : Layer(config), cropping(ReadEnds(config, "cropping")) {}

Shape Cropping1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  const int64_t left = inputs[0][0] - cropping[0] - cropping[1];
  if (left < 1) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class Cropping1D: nothing is left of " +
                    std::to_string(inputs[0][0]) + " steps without the first " +
                    std::to_string(cropping[0]) + " and the last " + std::to_string(cropping[1]));
  }
  return {left, inputs[0][1]};
}

UpSampling1D::UpSampling1D(LayerConfig& config)
    : Layer(config), size(ReadSizes(config, "size", 1, {2})[0]) {}

Shape UpSampling1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  return {ElementCount({inputs[0][0], size}), inputs[0][1]};
}

RepeatVector::RepeatVector(LayerConfig& config) : Layer(config), n(config.Int("n", 1)) {
  config.RequireGivenCount("n", &n);
}

Shape RepeatVector::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() != 1) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class RepeatVector needs an input of one axis, not " +
                    ShapeText(inputs[0]));
  }
  return {n, inputs[0][0]};
}

}  // namespace layers
}  // namespace hopper
