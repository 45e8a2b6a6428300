// x // y and x % y, as Python has them: rounded down, and what is left, with the divisor's sign.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct WholeDivision : Layer {
  static constexpr const char* kWeights = "";
  static constexpr const char* kSince = kOperationOnly;

  WholeDivision(LayerConfig& config, bool left) : Layer(config), gives_rest(left) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  bool gives_rest;
};
std::unique_ptr<Operator> MakeOperator(const WholeDivision& layer);
ops::Value Export(const WholeDivision& layer, const ExportCall& call);

// Without a gradient.
struct FloorDivide : WholeDivision {
  static constexpr const char* kName = "FloorDivide";
  static constexpr const char* kDescription = "quotient of two inputs, rounded down";
  explicit FloorDivide(LayerConfig& config) : WholeDivision(config, false) {}
};
// Of which the quotient is taken for fixed in the gradient.
struct Mod : WholeDivision {
  static constexpr const char* kName = "Mod";
  static constexpr const char* kDescription = "what a whole division leaves";
  explicit Mod(LayerConfig& config) : WholeDivision(config, true) {}
};

}  // namespace layers
}  // namespace hopper
