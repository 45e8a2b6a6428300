// InputLayer of a model with several inputs: its part of what the model is given, which is one row
// of all inputs' values. A model with one input has none.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct InputLayer : Layer {
  static constexpr const char* kName = "InputLayer";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "what a model is given; several have names";

  // "shape", and "first": the number of values of the inputs before.
  explicit InputLayer(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  Shape shape;
  int64_t first;
};
std::unique_ptr<Operator> MakeOperator(const InputLayer& layer);
std::unique_ptr<PlannedOp> Plan(const InputLayer& layer, PlanNode* node);
ops::Value Export(const InputLayer& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
