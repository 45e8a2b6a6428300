// Identity: its input.
#pragma once

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

struct Identity : SameShape {
  static constexpr const char* kName = "Identity";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "its input";
  static constexpr const char* kSince = "2.12";
  explicit Identity(LayerConfig& config)
      : SameShape(config), carries_masks(config.family() == KerasFamily::kKeras3) {}
  Masking masking() const override { return carries_masks ? Masking::kCarries : Masking::kLoses; }
  Passes PassesOn(const Shape& /*input*/) const override { return Passes::kRows; }
  int64_t Flops(const std::vector<Shape>&, const Shape&) const override { return 0; }

  bool carries_masks;  // in Keras 3
};
std::unique_ptr<Operator> MakeOperator(const Identity& layer);
std::unique_ptr<PlannedOp> Plan(const Identity& layer, PlanNode* node);
ops::Value Export(const Identity& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
