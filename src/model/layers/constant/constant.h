// An array that stands beside tensors in an operation (x + array, where(x > 0, x, -1.0)): the same
// for each example.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

// Of its input it takes the batch's size alone.
struct Constant : Layer {
  static constexpr const char* kName = "Constant";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "an array, the same for each example";
  static constexpr const char* kSince = kOperationOnly;

  // "shape" of an example, and as many "values".
  explicit Constant(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  Shape shape;
  std::vector<float> values;
};
std::unique_ptr<Operator> MakeOperator(const Constant& layer);
ops::Value Export(const Constant& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
