// Dropout: in training each element is 0 with probability `rate` and otherwise divided by
// 1 - rate. The mask is a pure function of (seed, layer, step, element).
#pragma once

#include <cmath>

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Dropout : Layer {
  static constexpr const char* kName = "Dropout";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "sets a random share of its inputs to zero in training";

  explicit Dropout(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Masking masking() const override { return Masking::kCarries; }

  double rate;
};
std::unique_ptr<Operator> MakeOperator(const Dropout& layer);
std::unique_ptr<PlannedOp> Plan(const Dropout& layer, PlanNode* node);

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
