// Normalization: inputs less a mean, divided by a deviation, both given as arguments or, where
// Keras' adapt() computed them, as weights that are not trained.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct Normalization : SameShape {
  static constexpr const char* kName = "Normalization";
  static constexpr const char* kWeights = "mean, variance, count";
  static constexpr const char* kDescription = "normalization by given statistics";
  static constexpr const char* kSince = "2.6";

  explicit Normalization(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  Masking masking() const override { return carries_masks ? Masking::kCarries : Masking::kLoses; }
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;

  // The shape of the statistics for this input: 1 where an axis has no statistics of its own.
  Shape Broadcast(const Shape& input) const;
  bool given() const { return !mean.empty(); }

  std::vector<int64_t> axes;  // that have statistics of their own; the batch is axis 0
  std::vector<double> mean;
  std::vector<double> variance;
  bool invert;
  bool carries_masks;  // in Keras 3
};
std::unique_ptr<Operator> MakeOperator(const Normalization& layer);
ops::Value Export(const Normalization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
