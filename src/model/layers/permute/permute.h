// Permute: the axes in another order.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Permute : Layer {
  static constexpr const char* kName = "Permute";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "the axes in another order";

  explicit Permute(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  std::vector<int64_t> dims;  // of each axis of the output: the input's axis, counted from 1
};
std::unique_ptr<Operator> MakeOperator(const Permute& layer);
ops::Value Export(const Permute& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
