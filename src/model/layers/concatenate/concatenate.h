// Concatenate: inputs joined along one axis.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Concatenate : Layer {
  static constexpr const char* kName = "Concatenate";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "inputs joined along one axis";

  explicit Concatenate(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Masking masking() const override {
    return axis == -1 || axis >= 2 ? Masking::kJoins : Masking::kCannot;
  }

  int64_t axis;  // as in Keras, with the batch as 0
};
std::unique_ptr<Operator> MakeOperator(const Concatenate& layer);
std::unique_ptr<PlannedOp> Plan(const Concatenate& layer, PlanNode* node);
ops::Value Export(const Concatenate& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
