// The mean of an ensemble's members, which are the first axis of its input:
//   [members, shape...] -> [shape...], mean over members of activation(x).
// Where it makes an output of a model, each member has a loss of its own in training, and the loss
// is their mean (ModelOutput::members); all else goes by the mean of the members.
#pragma once

#include "model/activation.h"
#include "model/layer.h"

namespace hopper {
namespace layers {

struct EnsembleAverage : Layer {
  static constexpr const char* kName = "EnsembleAverage";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "mean of an ensemble's members, each with a loss of its own";
  static constexpr const char* kSince = kOwnLayer;

  explicit EnsembleAverage(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  const ActivationSpec* OfMembers() const override { return &activation; }

  ActivationSpec activation;  // linear, sigmoid or softmax over the last axis
};
std::unique_ptr<Operator> MakeOperator(const EnsembleAverage& layer);
std::unique_ptr<PlannedOp> Plan(const EnsembleAverage& layer, PlanNode* node);
ops::Value Export(const EnsembleAverage& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
