// GaussianNoise, GaussianDropout and AlphaDropout: noise in training, nothing otherwise.
#pragma once

#include "model/layers/dropout/dropout.h"

namespace hopper {
namespace layers {

struct GaussianNoise : SameShape {
  static constexpr const char* kName = "GaussianNoise";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "adds normal noise in training";
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;

  explicit GaussianNoise(LayerConfig& config);
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCarries; }
  bool changes_in_training() const override { return stddev > 0.0; }

  double stddev;
};
std::unique_ptr<Operator> MakeOperator(const GaussianNoise& layer);
ops::Value Export(const GaussianNoise& layer, const ExportCall& call);

// Multiplies with normal noise around 1, of the deviation sqrt(rate / (1 - rate)).
struct GaussianDropout : SameShape {
  static constexpr const char* kName = "GaussianDropout";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "multiplies with normal noise around 1 in training";
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;

  explicit GaussianDropout(LayerConfig& config);
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCarries; }
  bool changes_in_training() const override { return rate > 0.0; }

  double rate;
};
std::unique_ptr<Operator> MakeOperator(const GaussianDropout& layer);
ops::Value Export(const GaussianDropout& layer, const ExportCall& call);

// Sets a random share of its inputs to what selu has at minus infinity, and keeps mean and
// variance.
struct AlphaDropout : Dropout {
  static constexpr const char* kName = "AlphaDropout";
  static constexpr const char* kDescription = "dropout that keeps mean and variance, for selu";

  explicit AlphaDropout(LayerConfig& config);
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const AlphaDropout& layer);
std::unique_ptr<PlannedOp> Plan(const AlphaDropout& layer, PlanNode* node);

}  // namespace layers
}  // namespace hopper
