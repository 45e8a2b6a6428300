// A classifier's probabilities with a temperature T (engine/calibration.h), over the last axis:
//   p_i^(1/T) / sum_j p_j^(1/T), which is softmax(log(p) / T);
//   of a single probability, with 1 - p as the other one: sigmoid(log(p / (1 - p)) / T).
// For models whose probabilities are made of no logits, as the mean of an ensemble.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

// Logarithms are taken of p from the one on, and of 1 - p up to the other, the last one below 1.
constexpr float kLeastProbability = 1e-30F;
constexpr float kMostProbability = 1.0F - 0x1p-24F;

struct Temperature : SameShape {
  static constexpr const char* kName = "Temperature";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "probabilities with a temperature";
  static constexpr const char* kSince = kOwnLayer;

  explicit Temperature(LayerConfig& config);
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  double temperature;
};
std::unique_ptr<Operator> MakeOperator(const Temperature& layer);
std::unique_ptr<PlannedOp> Plan(const Temperature& layer, PlanNode* node);
ops::Value Export(const Temperature& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
