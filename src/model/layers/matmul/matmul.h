// x @ y: products of the matrices in the last two axes of two tensors, example by example.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Matmul : Layer {
  static constexpr const char* kName = "Matmul";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "products of matrices of two inputs";
  static constexpr const char* kSince = kOperationOnly;

  explicit Matmul(LayerConfig& config) : Layer(config) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
};
std::unique_ptr<Operator> MakeOperator(const Matmul& layer);
ops::Value Export(const Matmul& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
