#include "base/keras_epsilon.h"
#include "model/exported/export_layer.h"
#include "model/layers/dot/dot.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

// The summed axis last, the others as one, whose sizes are appended.
Value Rows(const Dot& layer, const Value& x, size_t i, Shape* sizes) {
  const int64_t axis = layer.AxisOf(i, static_cast<size_t>(x.dim()));
  Shape order;
  int64_t rest = 1;
  for (int64_t j = 0; j < x.dim(); ++j) {
    if (j == axis) continue;
    order.push_back(j);
    if (j == 0) continue;
    sizes->push_back(x.size(j));
    rest *= x.size(j);
  }
  order.push_back(axis);
  const Value rows = reshape(permute(x, order), {-1, rest, x.size(axis)});
  if (!layer.normalize) return rows;
  const Value length = sqrt(sum(mul(rows, rows), {-1}, /*keepdim=*/true));
  return div(rows, clamp_min(length, kKerasEpsilon));
}

}  // namespace

Value Export(const Dot& layer, const ExportCall& call) {
  Shape sizes{-1};
  const Value a = Rows(layer, call.inputs[0], 0, &sizes);
  const Value b = permute(Rows(layer, call.inputs[1], 1, &sizes), {0, 2, 1});
  if (sizes.size() == 1) sizes.push_back(1);
  return reshape(matmul(a, b), sizes);
}

}  // namespace layers
}  // namespace hopper
