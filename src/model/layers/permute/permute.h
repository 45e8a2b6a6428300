// Permute, keras.ops.swapaxes() and moveaxis(): the axes in another order.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Reordered : Layer {
  using Layer::Layer;
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  // Of each axis of the output: the input's axis, both with the batch as 0. Throws where an example
  // of this shape has other axes.
  virtual std::vector<int64_t> OrderOf(const Shape& input) const = 0;
  Passes PassesOn(const Shape& input) const override {
    const bool last_stays = OrderOf(input).back() == static_cast<int64_t>(input.size());
    return last_stays ? Passes::kRows : Passes::kValues;
  }
};
std::unique_ptr<Operator> MakeOperator(const Reordered& layer);
ops::Value Export(const Reordered& layer, const ExportCall& call);

struct Permute : Reordered {
  static constexpr const char* kName = "Permute";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "the axes in another order";

  explicit Permute(LayerConfig& config);
  std::vector<int64_t> OrderOf(const Shape& input) const override;

  std::vector<int64_t> dims;  // of each axis of the output: the input's axis, counted from 1
};

struct Swapaxes : Reordered {
  static constexpr const char* kName = "Swapaxes";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "two axes in each other's place";
  static constexpr const char* kSince = kOperationOnly;

  explicit Swapaxes(LayerConfig& config);
  std::vector<int64_t> OrderOf(const Shape& input) const override;

  std::vector<int64_t> axes;  // the two, as in Keras, with the batch as 0
};

struct Moveaxis : Reordered {
  static constexpr const char* kName = "Moveaxis";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "axes at other places";
  static constexpr const char* kSince = kOperationOnly;

  explicit Moveaxis(LayerConfig& config);
  std::vector<int64_t> OrderOf(const Shape& input) const override;

  // As many, as in Keras, with the batch as 0: an axis of the input and its place in the output.
  std::vector<int64_t> source;
  std::vector<int64_t> destination;
};

}  // namespace layers
}  // namespace hopper
