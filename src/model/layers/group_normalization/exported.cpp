#include "model/exported/export_layer.h"
#include "model/layers/group_normalization/group_normalization.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const GroupNormalization& layer, const ExportCall& call) {
  const Shape& sizes = call.x().sizes();
  const size_t axis = layer.AxisOf({sizes.begin() + 1, sizes.end()}) + 1;
  const int64_t groups = layer.GroupsOf(sizes[axis]);
  // The axis as groups x places; a mean goes over all axes but the batch and the groups.
  Shape apart(sizes.begin(), sizes.end());
  apart[0] = -1;
  const Shape together = apart;
  apart[axis] = sizes[axis] / groups;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis), groups);
  Shape spread(apart.size(), 1);
  spread[axis] = groups;
  spread[axis + 1] = sizes[axis] / groups;
  Shape axes;
  for (size_t i = 1; i < apart.size(); ++i) {
    if (i != axis) axes.push_back(static_cast<int64_t>(i));
  }
  const Value x = reshape(call.x(), apart);
  const Value centered = sub(x, mean(x, axes, /*keepdim=*/true));
  const Value variance = mean(mul(centered, centered), axes, /*keepdim=*/true);
  Value y = div(centered, sqrt(add(variance, layer.epsilon)));
  size_t next = 0;
  if (layer.scale) y = mul(y, reshape(call.weights[next++], spread));
  if (layer.center) y = add(y, reshape(call.weights[next], spread));
  return reshape(y, together);
}

}  // namespace layers
}  // namespace hopper
