#include "model/layers/repeat/repeat.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Shape Repetition::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  Shape output = TimesOf(inputs[0]);
  for (size_t i = 0; i < output.size(); ++i) output[i] = Product({output[i], inputs[0][i]});
  return output;
}

Repeat::Repeat(LayerConfig& config)
    : Repetition(config), times(config.Int("repeats", 1)), axis(config.Int("axis", 0)) {
  config.RequireGivenCount("repeats", &times);
  if (axis == 0) {
    config.Fail(ErrorCode::kNotSupported, "it would repeat the examples of a batch",
                "Give it an axis of an example, for example axis=1.");
  }
}

Shape Repeat::TimesOf(const Shape& input) const {
  Shape all(input.size(), 1);
  all[static_cast<size_t>(AxesOfExample(*this, {axis}, input)[0]) - 1] = times;
  return all;
}

Tile::Tile(LayerConfig& config) : Repetition(config), times(config.Ints("repeats", 0, {})) {
  if (times.empty()) config.Missing("repeats");
  for (int64_t& one : times) config.RequireCount("repeats", &one);
}

Shape Tile::TimesOf(const Shape& input) const {
  // Fewer numbers than axes are those of the last axes.
  const size_t rank = input.size() + 1;
  if (times.size() > rank) {
    ThrowUnfit(*this, std::to_string(times.size()) + " numbers do not fit an example of shape " +
                          ShapeText(input));
  }
  std::vector<int64_t> all(rank - times.size(), 1);
  all.insert(all.end(), times.begin(), times.end());
  if (all[0] != 1) {
    throw Error(ErrorCode::kNotSupported,
                "layer \"" + name() + "\" of class Tile: it would repeat the examples of a batch",
                "", "Give it 1 for the first axis, the batch's.");
  }
  return {all.begin() + 1, all.end()};
}

}  // namespace layers
}  // namespace hopper
