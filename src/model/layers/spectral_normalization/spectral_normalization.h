// SpectralNormalization: a layer whose kernel is divided by its largest singular value, as far as
// power iterations find it (arXiv:1802.05957), before each step of training. As in Keras the kernel
// itself becomes the quotient, and gradients are those of the quotient.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct SpectralNormalization : Layer {
  static constexpr const char* kName = "SpectralNormalization";
  static constexpr const char* kWeights = "those of its layer, and vector_u";
  static constexpr const char* kDescription =
      "a layer with its kernel divided by the kernel's largest singular value";
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;
  static constexpr const char* kSince = "2.13";

  explicit SpectralNormalization(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  // In Keras 3 vector_u follows the kernel, which comes first; in tf.keras it is the last.
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return inner().FinalActivation(); }
  bool changes_in_training() const override { return true; }
  // Keras' wrapper leaves the mask of what its layer gives, although it warns that it does not.
  Masking masking() const override { return inner().masking(); }
  Mask MadeMask() const override { return inner().MadeMask(); }

  const Layer& inner() const { return *inner_; }
  // Among so many weights.
  size_t PlaceOfVector(size_t weights) const { return vector_last ? weights - 1 : 1; }

  int64_t power_iterations;
  bool vector_last;

 private:
  std::unique_ptr<Layer> inner_;  // null where the configuration has problems
};
std::unique_ptr<Operator> MakeOperator(const SpectralNormalization& layer);
ops::Value Export(const SpectralNormalization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
