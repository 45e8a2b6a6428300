// ActivityRegularization: its input, of which l1 * sum|x| + l2 * sum(x^2), divided by the batch's
// size, is added to the loss. Also what stands behind a layer with an activity_regularizer.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct ActivityRegularization : SameShape {
  static constexpr const char* kName = "ActivityRegularization";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "adds a penalty of its input to the loss";

  explicit ActivityRegularization(LayerConfig& config);
  bool adds_to_loss() const override { return true; }
  Masking masking() const override { return Masking::kCarries; }

  double l1;
  double l2;
};
std::unique_ptr<Operator> MakeOperator(const ActivityRegularization& layer);
std::unique_ptr<PlannedOp> Plan(const ActivityRegularization& layer, PlanNode* node);
ops::Value Export(const ActivityRegularization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
