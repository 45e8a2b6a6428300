// keras.ops.einsum(): sums of products along axes that letters name.
#pragma once

#include "model/layers/einsum/equation.h"
#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Einsum : Layer {
  static constexpr const char* kName = "Einsum";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "sums of products along named axes";
  static constexpr const char* kSince = kOperationOnly;

  // "subscripts", and "arrays": places of operands that have no batch.
  explicit Einsum(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  bool broadcasts() const override { return false; }

  Equation Of(const std::vector<Shape>& inputs) const;

  std::string subscripts;
  std::vector<int64_t> arrays;
};
std::unique_ptr<Operator> MakeOperator(const Einsum& layer);
ops::Value Export(const Einsum& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
