// keras.ops.one_hot(): for each id as many values as there are classes, of which its own is 1.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

// Of an id that is none of a class all are 0. Without a gradient.
struct OneHot : Layer {
  static constexpr const char* kName = "OneHot";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "a 1 at the place of each id";
  static constexpr const char* kSince = kOperationOnly;

  explicit OneHot(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  // The axis of the classes in the output for ids of this shape; the batch is axis 0.
  int64_t AxisOf(const Shape& input) const;

  int64_t classes;
  int64_t axis;  // as in Keras
};
std::unique_ptr<Operator> MakeOperator(const OneHot& layer);
ops::Value Export(const OneHot& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
