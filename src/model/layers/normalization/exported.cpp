#include <algorithm>
#include <cmath>

#include "base/keras_epsilon.h"
#include "model/exported/export_layer.h"
#include "model/layers/normalization/normalization.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

Value Given(const std::vector<double>& values, const Shape& sizes, const ExportCall& call) {
  const std::vector<float> all(values.begin(), values.end());
  const auto n = static_cast<int64_t>(all.size());
  if (n == ElementCount(sizes)) return call.graph->Constant(all, sizes);
  if (n == 1) return call.graph->Constant(all, {});
  // Of the last axis with statistics of its own.
  Shape one(sizes.size(), 1);
  size_t last = sizes.size() - 1;
  while (sizes[last] == 1) --last;
  one[last] = n;
  return call.graph->Constant(all, one);
}

}  // namespace

Value Export(const Normalization& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Shape sizes = layer.Broadcast(Shape(x.sizes().begin() + 1, x.sizes().end()));
  Value mean, deviation;
  if (layer.given()) {
    std::vector<double> deviations;
    for (const double variance : layer.variance) {
      deviations.push_back(std::max(std::sqrt(variance), kKerasEpsilon));
    }
    mean = Given(layer.mean, sizes, call);
    deviation = Given(deviations, sizes, call);
  } else {
    mean = reshape(call.weights[0], sizes);
    deviation = clamp_min(sqrt(reshape(call.weights[1], sizes)), kKerasEpsilon);
  }
  return layer.invert ? add(mul(x, deviation), mean) : div(sub(x, mean), deviation);
}

}  // namespace layers
}  // namespace hopper
