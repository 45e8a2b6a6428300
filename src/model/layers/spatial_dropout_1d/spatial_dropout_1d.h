// SpatialDropout1D: in training each feature of a series is 0 at all steps with probability `rate`
// and otherwise divided by 1 - rate.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct SpatialDropout1D : Layer {
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;
  static constexpr const char* kName = "SpatialDropout1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "sets a random share of a series' features to zero in training";

  explicit SpatialDropout1D(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Masking masking() const override { return Masking::kCarries; }
  bool changes_in_training() const override { return rate > 0.0; }

  double rate;
};
std::unique_ptr<Operator> MakeOperator(const SpatialDropout1D& layer);
ops::Value Export(const SpatialDropout1D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
