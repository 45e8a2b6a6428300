#include "model/layers/periodic_embedding/periodic_embedding.h"

#include <cmath>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

WeightSpec DrawnEmbedding(const char* name, const Shape& shape, InitializerKind kind, double a,
                          double b) {
  WeightSpec weight;
  weight.name = name;
  weight.shape = shape;
  weight.initializer.kind = kind;
  weight.initializer.a = a;
  weight.initializer.b = b;
  return weight;
}

}  // namespace

PeriodicEmbedding::PeriodicEmbedding(LayerConfig& config)
    : Layer(config),
      frequencies(config.Int("frequencies", 16)),
      units(config.Int("units", 3)),
      sigma(config.Number("sigma", 0.1, kPositive)),
      append_input(config.Bool("append_input", true)) {
  config.RequireCount("frequencies", &frequencies);
  config.RequireCount("units", &units);
}

Shape PeriodicEmbedding::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() != 1) ThrowUnfit(*this, "its input needs rank 1, a row of numbers");
  return {inputs[0][0] * (units + (append_input ? 1 : 0))};
}

std::vector<WeightSpec> PeriodicEmbedding::Weights(const std::vector<Shape>& inputs) const {
  const int64_t n = inputs[0][0];
  const double limit = 1.0 / std::sqrt(static_cast<double>(frequencies));
  constexpr auto kUniform = InitializerKind::kRandomUniform;
  return {
      DrawnEmbedding("frequencies", {n, frequencies}, InitializerKind::kRandomNormal, 0.0, sigma),
      DrawnEmbedding("phases", {n, frequencies}, kUniform, -M_PI, M_PI),
      DrawnEmbedding("kernel", {n, frequencies, units}, kUniform, -limit, limit),
      DrawnEmbedding("bias", {n, units}, kUniform, -limit, limit)};
}

int64_t PeriodicEmbedding::Flops(const std::vector<Shape>& inputs, const Shape& /*output*/) const {
  // A cosine is about twenty operations.
  return ElementCount({inputs[0][0], frequencies, 2 * units + 22});
}

int64_t PeriodicEmbedding::AutogradFloats(const std::vector<Shape>& inputs,
                                          const Shape& /*output*/) const {
  return ElementCount({inputs[0][0], frequencies, 4});
}

}  // namespace layers
}  // namespace hopper
