// Dropout: in training each element is 0 with probability `rate` and otherwise divided by
// 1 - rate. The mask is a pure function of (seed, layer, step, element). Elements along some axes
// may share their fate: then the mask is drawn in the noise's shape, and repeated.
#pragma once

#include <cmath>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct DropoutLayer : SameShape {
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;
  explicit DropoutLayer(LayerConfig& config);
  int64_t Flops(const std::vector<Shape>&, const Shape&) const override { return 0; }
  Masking masking() const override { return Masking::kCarries; }
  bool changes_in_training() const override { return rate > 0.0; }
  // Of each axis, the batch included: 1 where all elements along it share their fate, else -1.
  // Empty: none do.
  virtual Shape Noise() const { return {}; }

  double rate;
};
std::unique_ptr<Operator> MakeOperator(const DropoutLayer& layer);
std::unique_ptr<PlannedOp> Plan(const DropoutLayer& layer, PlanNode* node);
ops::Value Export(const DropoutLayer& layer, const ExportCall& call);

struct Dropout : DropoutLayer {
  static constexpr const char* kName = "Dropout";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "sets a random share of its inputs to zero in training";

  explicit Dropout(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Shape Noise() const override;

  std::vector<int64_t> noise_shape;  // as given; -1: the input's
};

// Of whole channels.
struct SpatialDropout2D : DropoutLayer {
  static constexpr const char* kName = "SpatialDropout2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "sets a random share of an image's channels to zero in training";

  explicit SpatialDropout2D(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Shape Noise() const override { return {-1, 1, 1, -1}; }
};

// Of 24 random bits, the number of values for which an element is dropped.
inline uint32_t DroppedValues(double rate) {
  return static_cast<uint32_t>(std::ceil(rate * (1 << 24)));
}
inline float KeptScale(double rate) {
  return rate < 1.0 ? static_cast<float>(1.0 / (1.0 - rate)) : 0.0F;
}
constexpr int64_t kDropoutChunk = 2048;  // elements whose random bits are made at a time

}  // namespace layers
}  // namespace hopper
