// Flatten: all axes in one.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Flatten : Layer {
  static constexpr const char* kName = "Flatten";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "all axes in one";

  explicit Flatten(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Passes PassesOn(const Shape& input) const override {
    return input == OutputShape({input}) ? Passes::kRows : Passes::kValues;
  }
};
std::unique_ptr<Operator> MakeOperator(const Flatten& layer);
std::unique_ptr<PlannedOp> Plan(const Flatten& layer, PlanNode* node);
ops::Value Export(const Flatten& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
