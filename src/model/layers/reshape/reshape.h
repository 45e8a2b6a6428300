// Reshape: another shape of the same values.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Reshape : Layer {
  static constexpr const char* kName = "Reshape";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "another shape of the same values";

  explicit Reshape(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  Shape target;  // one of its sizes may be -1
};
std::unique_ptr<Operator> MakeOperator(const Reshape& layer);
std::unique_ptr<PlannedOp> Plan(const Reshape& layer, PlanNode* node);
ops::Value Export(const Reshape& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
