// Masking: steps all of whose features have one value do not count.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct MaskingLayer : Layer {
  static constexpr const char* kName = "Masking";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "leaves out steps all of whose features have one value";

  explicit MaskingLayer(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Mask MadeMask() const override { return {{MaskStep::Kind::kAnyNotEqual, 0, mask_value}}; }

  double mask_value;  // as float32
};
std::unique_ptr<Operator> MakeOperator(const MaskingLayer& layer);
ops::Value Export(const MaskingLayer& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
