#include "model/layers/reduction/reduction.h"

#include <algorithm>

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Reduction::Reduction(LayerConfig& config, Kind how)
    : Layer(config),
      kind(how),
      axes(config.Ints("axis", 0, {})),
      keepdims(config.Bool("keepdims", false)) {
  if (axes.empty()) {
    config.Fail(ErrorCode::kNotSupported, "without an axis it would mix the examples of a batch",
                "Give it the axes of an example, for example axis=-1.");
  } else if (std::find(axes.begin(), axes.end(), 0) != axes.end()) {
    config.Fail(ErrorCode::kNotSupported, "axis 0 is the batch, whose examples it would mix",
                "Give it the axes of an example, for example axis=-1.");
  }
  config.RequireUnset("initial");
}

std::vector<int64_t> Reduction::AxesOf(const Shape& input) const {
  return AxesOfExample(*this, axes, input);
}

Shape Reduction::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const std::vector<int64_t> chosen = AxesOf(inputs[0]);
  Shape output;
  for (size_t i = 0; i < inputs[0].size(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), static_cast<int64_t>(i) + 1) == chosen.end()) {
      output.push_back(inputs[0][i]);
    } else if (keepdims) {
      output.push_back(1);
    }
  }
  return output;
}

int64_t Reduction::Flops(const std::vector<Shape>& inputs, const Shape&) const {
  const bool spread = kind == Kind::kVariance || kind == Kind::kDeviation;
  return Product({spread ? 4 : 1, ElementCount(inputs[0])});
}

int64_t Reduction::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  // Differences, or which value was the largest.
  return kind == Kind::kMean || kind == Kind::kSum ? 0 : Product({2, ElementCount(inputs[0])});
}

}  // namespace layers
}  // namespace hopper
