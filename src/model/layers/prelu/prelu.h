// PReLU: x above 0, alpha * x below, with a trained alpha for each place of the input, or one for
// all along the shared axes.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct PReLU : SameShape {
  static constexpr const char* kName = "PReLU";
  static constexpr const char* kWeights = "alpha";
  static constexpr const char* kDescription = "x above 0, a trained multiple of x below";

  explicit PReLU(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  Masking masking() const override { return Masking::kCarries; }

  std::vector<int64_t> shared_axes;  // the batch is axis 0
  WeightRules alpha_rules;
};
std::unique_ptr<Operator> MakeOperator(const PReLU& layer);
ops::Value Export(const PReLU& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
