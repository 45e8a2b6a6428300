// Add: the sum of inputs, broadcast as Keras does.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Add : Layer {
  static constexpr const char* kName = "Add";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "sum of inputs";

  explicit Add(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kMerges; }
};
std::unique_ptr<Operator> MakeOperator(const Add& layer);
std::unique_ptr<PlannedOp> Plan(const Add& layer, PlanNode* node);

}  // namespace layers
}  // namespace hopper
