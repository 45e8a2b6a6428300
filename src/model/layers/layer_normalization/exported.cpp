#include "model/exported/export_layer.h"
#include "model/layers/layer_normalization/layer_normalization.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

Shape WithBatch(Shape axes) {
  for (int64_t& axis : axes) ++axis;
  return axes;
}

// A weight along the axes, to be multiplied with x.
Value Spread(const Value& weight, const Shape& axes, const Value& x) {
  Shape sizes(static_cast<size_t>(x.dim()), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    sizes[static_cast<size_t>(axes[i])] = weight.size(static_cast<int64_t>(i));
  }
  return reshape(weight, sizes);
}

Shape Sizes(const Value& x) { return {x.sizes().begin() + 1, x.sizes().end()}; }

}  // namespace

Value Export(const LayerNormalization& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Shape axes = WithBatch(layer.AxesOf(Sizes(x)));
  const bool at_the_end = axes.back() == x.dim() - 1 &&
                          axes.back() - axes.front() == static_cast<int64_t>(axes.size()) - 1;
  if (at_the_end && layer.scale) {
    std::vector<Value> inputs{x};
    inputs.insert(inputs.end(), call.weights.begin(), call.weights.end());
    return call.graph->Emit("LayerNormalization", inputs,
                            {{"axis", axes.front()}, {"epsilon", layer.epsilon}}, x.sizes());
  }
  const Value centered = sub(x, mean(x, axes, /*keepdim=*/true));
  const Value variance = mean(mul(centered, centered), axes, /*keepdim=*/true);
  Value y = div(centered, sqrt(add(variance, layer.epsilon)));
  size_t next = 0;
  if (layer.scale) y = mul(y, Spread(call.weights[next++], axes, x));
  if (layer.center) y = add(y, Spread(call.weights[next], axes, x));
  return y;
}

Value Export(const RMSNormalization& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Shape axes = WithBatch(layer.AxesOf(Sizes(x)));
  const Value root = sqrt(add(mean(mul(x, x), axes, /*keepdim=*/true), layer.epsilon));
  return mul(div(x, root), Spread(call.weights[0], axes, x));
}

}  // namespace layers
}  // namespace hopper
