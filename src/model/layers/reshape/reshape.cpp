#include "model/layers/reshape/reshape.h"

#include <algorithm>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Passes SameValues::PassesOn(const Shape& input) const {
  const Shape output = OutputShape({input});
  const bool rows = !input.empty() && !output.empty() && input.back() == output.back();
  return rows ? Passes::kRows : Passes::kValues;
}

Reshape::Reshape(LayerConfig& config)
    : SameValues(config), target(config.Ints("target_shape", 0, {})) {
  int unknown = 0;
  for (int64_t size : target) {
    if (size == -1) ++unknown;
    if (size < -1 || unknown > 1) {
      config.Fail(ErrorCode::kInvalidParameter,
                  "argument \"target_shape\" allows one -1 and otherwise sizes of 0 or more");
      target.clear();
      break;
    }
  }
}

Shape Reshape::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const int64_t count = ElementCount(inputs[0]);
  Shape output = target;
  Shape stated = target;
  stated.erase(std::remove(stated.begin(), stated.end(), -1), stated.end());
  const int64_t known = ElementCount(stated);
  for (int64_t& size : output) {
    if (size == -1) size = known == 0 ? 0 : count / known;
  }
  if (ElementCount(output) != count) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class Reshape: an input of shape " +
                    ShapeText(inputs[0]) + " cannot take the shape " + ShapeText(target));
  }
  return output;
}

ExpandDims::ExpandDims(LayerConfig& config) : SameValues(config), axes(config.Ints("axis", 0, {})) {
  if (axes.empty()) config.Missing("axis");
}

Shape ExpandDims::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const auto rank = static_cast<int64_t>(inputs[0].size() + axes.size()) + 1;
  std::vector<int64_t> places;
  for (const int64_t axis : axes) {
    places.push_back(axis < 0 ? axis + rank : axis);
    if (places.back() < 1 || places.back() >= rank) {
      ThrowUnfit(*this,
                 "there cannot be a new axis " + std::to_string(axis) + " in an input of shape " +
                     ShapeText(inputs[0]),
                 "The batch is axis 0 and stays the first.");
    }
  }
  std::sort(places.begin(), places.end());
  Shape output = inputs[0];
  for (const int64_t place : places) {
    output.insert(output.begin() + static_cast<std::ptrdiff_t>(place) - 1, 1);
  }
  return output;
}

Squeeze::Squeeze(LayerConfig& config) : SameValues(config), axes(config.Ints("axis", 0, {})) {}

Shape Squeeze::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  Shape output = inputs[0];
  const auto rank = static_cast<int64_t>(output.size()) + 1;
  constexpr int64_t kGone = 0;  // no axis has this size
  for (const int64_t axis : axes) {
    const int64_t own = axis < 0 ? axis + rank : axis;
    if (own < 1 || own >= rank || inputs[0][static_cast<size_t>(own) - 1] != 1) {
      ThrowUnfit(*this, "axis " + std::to_string(axis) +
                            " is not one of size 1 in an example of shape " + ShapeText(inputs[0]));
    }
    output[static_cast<size_t>(own) - 1] = kGone;
  }
  output.erase(std::remove(output.begin(), output.end(), axes.empty() ? 1 : kGone), output.end());
  return output;
}

}  // namespace layers
}  // namespace hopper
