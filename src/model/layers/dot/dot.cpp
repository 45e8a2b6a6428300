#include "model/layers/dot/dot.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Dot::Dot(LayerConfig& config)
    : Layer(config),
      axes(config.Ints("axes", 2, {-1, -1})),
      normalize(config.Bool("normalize", false)) {
  if (!config.Has("axes")) config.Missing("axes");
  if (axes[0] == 0 || axes[1] == 0) {
    config.Fail(ErrorCode::kInvalidParameter, "axis 0 is the batch and cannot be summed");
    axes = {-1, -1};
  }
}

int64_t Dot::AxisOf(size_t i, size_t rank) const {
  const auto all = static_cast<int64_t>(rank);
  const int64_t axis = axes[i] < 0 ? all + axes[i] : axes[i];
  if (axis >= 1 && axis < all) return axis;
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + name() + "\" of class Dot: axis " + std::to_string(axes[i]) +
                  " does not exist in its input " + std::to_string(i + 1));
}

Shape Dot::OutputShape(const std::vector<Shape>& inputs) const {
  if (inputs.size() != 2) {
    throw Error(ErrorCode::kInvalidParameter, "layer \"" + name() + "\" of class Dot needs two " +
                                                  "inputs, not " + std::to_string(inputs.size()));
  }
  Shape output;
  int64_t sizes[2];
  for (size_t i = 0; i < 2; ++i) {
    Shape rest = inputs[i];
    const auto axis = static_cast<size_t>(AxisOf(i, rest.size() + 1) - 1);
    sizes[i] = rest[axis];
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    output.insert(output.end(), rest.begin(), rest.end());
  }
  if (sizes[0] != sizes[1]) ThrowDoNotFit(*this, inputs[0], inputs[1]);
  if (output.empty()) output = {1};
  return output;
}

int64_t Dot::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const int64_t size = inputs[0][static_cast<size_t>(AxisOf(0, inputs[0].size() + 1) - 1)];
  return Product({2, size, ElementCount(output)});
}

}  // namespace layers
}  // namespace hopper
