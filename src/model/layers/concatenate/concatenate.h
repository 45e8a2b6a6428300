// Concatenate: inputs joined along one axis.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Concatenate : Layer {
  static constexpr const char* kName = "Concatenate";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "inputs joined along one axis";
  // Keras' FeatureSpace joins its features by a class of its own.
  static std::vector<std::string> FormerNames() { return {"TFDConcat"}; }

  explicit Concatenate(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Masking masking() const override {
    // Masked are series of vectors, of whose axes with the batch this is the second.
    if (axis == 1 || axis == -2) return Masking::kFollows;
    if (axis != -1 && axis < 2) return Masking::kCannot;
    return merges_masks ? Masking::kMerges : Masking::kJoins;
  }

  int64_t axis;  // as in Keras, with the batch as 0
  // What counts in one of the inputs counts in the output, as in Keras from 3.6 on; before, what
  // counts in all of them. Files of Keras 3 mostly say themselves which masks layers get.
  bool merges_masks;
};
std::unique_ptr<Operator> MakeOperator(const Concatenate& layer);
std::unique_ptr<PlannedOp> Plan(const Concatenate& layer, PlanNode* node);
ops::Value Export(const Concatenate& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
