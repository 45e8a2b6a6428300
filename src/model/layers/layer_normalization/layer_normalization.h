// LayerNormalization and RMSNormalization: each example by itself, over one or more axes.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

// Axes counted without the batch, in ascending order.
struct AxesNormalization : Layer {
  explicit AxesNormalization(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCarries; }

  // Whether they are the last axes of an input of this rank: `found` as from AxesOf().
  static bool AtTheEnd(const std::vector<int64_t>& found, size_t rank) {
    return found.back() + 1 == static_cast<int64_t>(rank) &&
           found.back() - found.front() + 1 == static_cast<int64_t>(found.size());
  }
  // Throws where the input does not have them.
  std::vector<int64_t> AxesOf(const Shape& input) const;
  // Of a weight: the input's sizes along the axes.
  Shape WeightShape(const Shape& input) const;
  static double ReadEpsilon(LayerConfig& config, double fallback);

  std::vector<int64_t> axes;  // as in Keras: the batch is 0, and negative ones count from the end
};

struct LayerNormalization : AxesNormalization {
  static constexpr const char* kName = "LayerNormalization";
  static constexpr const char* kWeights = "gamma, beta";
  static constexpr const char* kDescription = "normalization by an example's own mean and variance";
  static constexpr const char* kSince = "2.4";

  explicit LayerNormalization(LayerConfig& config);
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;

  double epsilon;
  bool center;
  bool scale;
  WeightRules beta_rules;
  WeightRules gamma_rules;
};
std::unique_ptr<Operator> MakeOperator(const LayerNormalization& layer);
std::unique_ptr<PlannedOp> Plan(const LayerNormalization& layer, PlanNode* node);
ops::Value Export(const LayerNormalization& layer, const ExportCall& call);

struct RMSNormalization : AxesNormalization {
  static constexpr const char* kName = "RMSNormalization";
  static constexpr const char* kWeights = "scale";
  static constexpr const char* kDescription = "division by the root of an example's mean square";
  static constexpr const char* kSince = "3.9";

  explicit RMSNormalization(LayerConfig& config)
      : AxesNormalization(config), epsilon(ReadEpsilon(config, 1e-6)) {}
  // Keras' class does not say that it supports masks.
  Masking masking() const override { return Masking::kLoses; }
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;

  double epsilon;
};
std::unique_ptr<Operator> MakeOperator(const RMSNormalization& layer);
ops::Value Export(const RMSNormalization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
