// Softmax: probabilities along an axis, or several.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct Softmax : ActivationLayer {
  static constexpr const char* kName = "Softmax";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "probabilities along an axis, or several";
  static constexpr const char* kSince = "2.1";

  explicit Softmax(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Activation FinalActivation() const override {
    return axes.empty() ? ActivationLayer::FinalActivation() : Activation::kLinear;
  }
  Masking masking() const override { return Masking::kCannot; }

  // Of an example's shape, with the batch as 0, in order; `axes` must not be empty. Throws where
  // there are none.
  std::vector<int64_t> AxesOf(const Shape& input) const;

  std::vector<int64_t> axes;  // as in Keras; empty: the activation's
};
std::unique_ptr<Operator> MakeOperator(const Softmax& layer);
std::unique_ptr<PlannedOp> Plan(const Softmax& layer, PlanNode* node);
ops::Value Export(const Softmax& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
