#include "model/layers/normalization/normalization.h"

#include <algorithm>

namespace hopper {
namespace layers {

Normalization::Normalization(LayerConfig& config)
    : SameShape(config),
      axes(config.Ints("axis", 0, {-1})),
      mean(config.Numbers("mean", {})),
      variance(config.Numbers("variance", {})),
      invert(config.Bool("invert", false)),
      carries_masks(config.family() == KerasFamily::kKeras3) {
  if (mean.size() != variance.size()) {
    config.Fail(ErrorCode::kInvalidParameter,
                "arguments \"mean\" and \"variance\" must have as many values");
    mean = variance = {};
  }
}

Shape Normalization::Broadcast(const Shape& input) const {
  const int64_t rank = static_cast<int64_t>(input.size()) + 1;  // with the batch
  Shape shape(input.size(), 1);
  for (const int64_t axis : axes) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 1 || at >= rank) {
      ThrowUnfit(*this, "axis " + std::to_string(axis) + " does not exist in an input of shape " +
                            ShapeText(input));
    }
    shape[static_cast<size_t>(at) - 1] = input[static_cast<size_t>(at) - 1];
  }
  return shape;
}

Shape Normalization::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const Shape shape = Broadcast(inputs[0]);
  const auto n = static_cast<int64_t>(mean.size());
  // One for all, one for each cell, or one for each place of the last axis that has its own.
  const auto last = std::find_if(shape.rbegin(), shape.rend(), [](int64_t s) { return s != 1; });
  if (given() && n != 1 && n != ElementCount(shape) && (last == shape.rend() || n != *last)) {
    ThrowUnfit(*this, std::to_string(n) + " values of \"mean\" do not fit an input of shape " +
                          ShapeText(inputs[0]));
  }
  return inputs[0];
}

std::vector<WeightSpec> Normalization::Weights(const std::vector<Shape>& inputs) const {
  if (given()) return {};
  Shape shape;
  const Shape broadcast = Broadcast(inputs[0]);
  std::vector<int64_t> kept;
  for (const int64_t axis : axes) {
    kept.push_back(axis < 0 ? axis + static_cast<int64_t>(inputs[0].size()) + 1 : axis);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const int64_t axis : kept) shape.push_back(broadcast[static_cast<size_t>(axis) - 1]);
  std::vector<WeightSpec> weights(3);
  weights[0].name = "mean";
  weights[0].shape = shape;
  weights[1].name = "variance";
  weights[1].shape = shape;
  weights[1].initializer.kind = InitializerKind::kOnes;
  weights[2].name = "count";  // of the examples that adapt() saw: Keras writes it, nobody reads it
  for (WeightSpec& weight : weights) weight.trainable = false;
  return weights;
}

int64_t Normalization::Flops(const std::vector<Shape>&, const Shape& output) const {
  return 2 * ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
