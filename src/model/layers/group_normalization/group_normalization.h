// GroupNormalization: each example by itself, in groups of neighbouring places of one axis.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct GroupNormalization : Layer {
  static constexpr const char* kName = "GroupNormalization";
  static constexpr const char* kWeights = "gamma, beta";
  static constexpr const char* kDescription = "normalization of groups of an example's channels";
  static constexpr const char* kSince = "2.11";

  explicit GroupNormalization(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCarries; }

  // The axis, counted without the batch.
  size_t AxisOf(const Shape& input) const;
  int64_t GroupsOf(int64_t size) const { return groups == -1 ? size : groups; }

  int64_t groups;  // -1: one for each place
  int64_t axis;    // the batch is 0
  double epsilon;
  bool center;
  bool scale;
  WeightRules beta_rules;
  WeightRules gamma_rules;
};
std::unique_ptr<Operator> MakeOperator(const GroupNormalization& layer);
ops::Value Export(const GroupNormalization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
