#include "model/layers/spectral_normalization/spectral_normalization.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

SpectralNormalization::SpectralNormalization(LayerConfig& config)
    : Layer(config),
      power_iterations(config.Int("power_iterations", 1)),
      vector_last(config.family() == KerasFamily::kKeras2),
      inner_(config.GetLayer("layer")) {
  if (power_iterations < 1 || power_iterations > 1000) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"power_iterations\" must lie between 1 and 1000, not " +
                    std::to_string(power_iterations));
  }
}

Shape SpectralNormalization::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return inner().OutputShape(inputs);
}

std::vector<WeightSpec> SpectralNormalization::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights = inner().Weights(inputs);
  const bool usable = !weights.empty() &&
                      (weights[0].name == "kernel" || weights[0].name == "embeddings") &&
                      (weights.size() == 1 || weights[1].name == "bias");
  if (!usable) {
    ThrowUnfit(*this, "a layer of class " + inner().class_name() + " has no kernel of its own",
               "Wrap a Dense layer, a convolution or an Embedding.");
  }
  for (WeightSpec& weight : weights) weight.trainable = weight.trainable && inner().trainable();
  WeightSpec vector;
  vector.name = "vector_u";
  vector.shape = {1, weights[0].shape.back()};
  vector.initializer.kind = InitializerKind::kTruncatedNormal;
  vector.initializer.b = 0.02;
  vector.trainable = false;
  const size_t place = PlaceOfVector(weights.size() + 1);
  weights.insert(weights.begin() + static_cast<std::ptrdiff_t>(place), std::move(vector));
  return weights;
}

int64_t SpectralNormalization::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return inner().Flops(inputs, output);
}

int64_t SpectralNormalization::AutogradFloats(const std::vector<Shape>& inputs,
                                              const Shape& output) const {
  // Beside what the layer needs a few copies of the kernel, once a step and not for each example.
  return inner().AutogradFloats(inputs, output);
}

}  // namespace layers
}  // namespace hopper
