// LayerScale of keras.applications' ConvNeXt: each channel times a weight.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct LayerScale : SameShape {
  static constexpr const char* kName = "LayerScale";
  static constexpr const char* kWeights = "gamma";
  static constexpr const char* kDescription = "each channel times a weight, as in ConvNeXt";
  static constexpr const char* kSince = "2.10";

  explicit LayerScale(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;

  int64_t channels;
  double initial;
};
std::unique_ptr<Operator> MakeOperator(const LayerScale& layer);
std::unique_ptr<PlannedOp> Plan(const LayerScale& layer, PlanNode* node);
ops::Value Export(const LayerScale& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
