// x ** y: powers of a tensor by a number, of a number by a tensor, and of one tensor by another.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Power : Layer {
  static constexpr const char* kName = "Power";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "powers: of a tensor, of a number, of each other";
  static constexpr const char* kSince = kOperationOnly;
  enum class Of { kTensor, kNumber };

  // Of one input "exponent", or "base" of what it is the exponent.
  explicit Power(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  Of of = Of::kTensor;  // whether the only input is raised, or the exponent
  double number = 1.0;  // the other one
};
std::unique_ptr<Operator> MakeOperator(const Power& layer);
ops::Value Export(const Power& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
