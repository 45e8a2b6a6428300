#include "model/layers/permute/permute.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Permute::Permute(LayerConfig& config) : Reordered(config), dims(config.Ints("dims", 0, {})) {
  if (!config.Has("dims")) {
    config.Missing("dims");
    return;
  }
  std::vector<int64_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<int64_t>(i) + 1) continue;
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"dims\" must hold each axis once, from 1 on");
    dims.clear();
    return;
  }
}

std::vector<int64_t> Permute::OrderOf(const Shape& input) const {
  if (input.size() != dims.size()) {
    ThrowUnfit(*this, std::to_string(dims.size()) + " axes do not fit an input of shape " +
                          ShapeText(input));
  }
  std::vector<int64_t> order{0};
  order.insert(order.end(), dims.begin(), dims.end());
  return order;
}

Swapaxes::Swapaxes(LayerConfig& config)
    : Reordered(config), axes{config.Int("axis1", 0), config.Int("axis2", 0)} {
  if (axes[0] == 0 || axes[1] == 0) {
    config.Fail(ErrorCode::kNotSupported, "axis 0 is the batch and stays where it is",
                "Swap axes of an example.");
  }
}

std::vector<int64_t> Swapaxes::OrderOf(const Shape& input) const {
  std::vector<int64_t> order(input.size() + 1);
  std::iota(order.begin(), order.end(), 0);
  const auto rank = static_cast<int64_t>(order.size());
  std::vector<size_t> places;
  for (const int64_t axis : axes) {
    const int64_t own = axis < 0 ? axis + rank : axis;
    if (own < 1 || own >= rank) {
      ThrowUnfit(*this, "axis " + std::to_string(axis) + " is not one of an example of shape " +
                            ShapeText(input));
    }
    places.push_back(static_cast<size_t>(own));
  }
  std::swap(order[places[0]], order[places[1]]);
  return order;
}

Moveaxis::Moveaxis(LayerConfig& config)
    : Reordered(config),
      source(config.Ints("source", 0, {})),
      destination(config.Ints("destination", 0, {})) {
  if (source.size() != destination.size() || source.empty()) {
    config.Fail(ErrorCode::kInvalidParameter,
                "arguments \"source\" and \"destination\" must hold as many axes");
  }
}

std::vector<int64_t> Moveaxis::OrderOf(const Shape& input) const {
  const auto rank = input.size() + 1;
  constexpr int64_t kFree = -1;
  std::vector<int64_t> order(rank, kFree);
  std::vector<char> moved(rank, 0);
  const auto place = [&](int64_t axis) {
    return static_cast<size_t>(AxesOfExample(*this, {axis}, input)[0]);
  };
  for (size_t i = 0; i < source.size(); ++i) {
    const size_t from = place(source[i]);
    const size_t to = place(destination[i]);
    if (moved[from] != 0 || order[to] != kFree) ThrowUnfit(*this, "an axis is there twice");
    moved[from] = 1;
    order[to] = static_cast<int64_t>(from);
  }
  size_t next = 0;
  for (int64_t& axis : order) {
    if (axis != kFree) continue;
    while (moved[next] != 0) ++next;
    axis = static_cast<int64_t>(next++);
  }
  return order;
}

Shape Reordered::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  Shape output;
  for (const int64_t axis : OrderOf(inputs[0])) {
    if (axis > 0) output.push_back(inputs[0][static_cast<size_t>(axis) - 1]);
  }
  return output;
}

}  // namespace layers
}  // namespace hopper
