// BatchNormalization over the last axis, with Keras' rules: epsilon 1e-3, momentum 0.99, and the
// biased variance in the moving average (libtorch's is the corrected one).
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct BatchNormalization : Layer {
  static constexpr const char* kName = "BatchNormalization";
  // Of some versions of TensorFlow.
  static std::vector<std::string> FormerNames() {
    return {"BatchNormalizationV1", "BatchNormalizationV2"};
  }
  static constexpr const char* kWeights = "gamma, beta, moving_mean, moving_variance";
  static constexpr const char* kDescription = "normalization by the batch's mean and variance";

  explicit BatchNormalization(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCannot; }
  bool changes_in_training() const override { return trainable(); }
  bool has_moving_statistics() const override { return true; }

  int64_t axis;
  double momentum;
  double epsilon;
  bool center;
  bool scale;
  WeightRules beta_rules;
  WeightRules gamma_rules;
  WeightRules mean_rules;
  WeightRules variance_rules;
};
std::unique_ptr<Operator> MakeOperator(const BatchNormalization& layer);
std::unique_ptr<PlannedOp> Plan(const BatchNormalization& layer, PlanNode* node);
ops::Value Export(const BatchNormalization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
