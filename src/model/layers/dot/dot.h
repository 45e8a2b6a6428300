// Dot: products of two inputs summed along an axis of each.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Dot : Layer {
  static constexpr const char* kName = "Dot";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription =
      "products of two inputs, summed along an axis of each";

  explicit Dot(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kEnds; }

  // The axis of input `i` of so many axes, with the batch as 0; throws where it has none.
  int64_t AxisOf(size_t i, size_t rank) const;

  std::vector<int64_t> axes;  // of each input, as in Keras
  bool normalize;             // to length 1 along the axis
};
std::unique_ptr<Operator> MakeOperator(const Dot& layer);
ops::Value Export(const Dot& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
