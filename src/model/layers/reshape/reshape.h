// Reshape, and operations that do no more: another shape of the same values.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct SameValues : Layer {
  using Layer::Layer;
  Passes PassesOn(const Shape& input) const override;
};
std::unique_ptr<Operator> MakeOperator(const SameValues& layer);
std::unique_ptr<PlannedOp> Plan(const SameValues& layer, PlanNode* node);
ops::Value Export(const SameValues& layer, const ExportCall& call);

struct Reshape : SameValues {
  static constexpr const char* kName = "Reshape";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "another shape of the same values";

  explicit Reshape(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  Shape target;  // one of its sizes may be -1
};

// keras.ops.expand_dims(): new axes of size 1.
struct ExpandDims : SameValues {
  static constexpr const char* kName = "ExpandDims";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "new axes of size 1";
  static constexpr const char* kSince = kOperationOnly;

  explicit ExpandDims(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  std::vector<int64_t> axes;  // of the output, as in Keras, with the batch as 0
};

// keras.ops.squeeze(): without axes of size 1.
struct Squeeze : SameValues {
  static constexpr const char* kName = "Squeeze";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "without axes of size 1";
  static constexpr const char* kSince = kOperationOnly;

  explicit Squeeze(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  std::vector<int64_t> axes;  // as in Keras, with the batch as 0; none: all of size 1
};

}  // namespace layers
}  // namespace hopper
