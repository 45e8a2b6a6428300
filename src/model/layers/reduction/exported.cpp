#include "model/exported/export_layer.h"
#include "model/layers/reduction/reduction.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

Value Variance(const Value& x, const Shape& axes, bool keepdims) {
  return mean(square(sub(x, mean(x, axes, /*keepdim=*/true))), axes, keepdims);
}

// Of what is left of the largest value, so that nothing overflows.
Value LogSumExp(const Value& x, const Shape& axes, bool keepdims) {
  const Value most = amax(x, axes, /*keepdim=*/true);
  const Value rest = log(sum(exp(sub(x, most)), axes, /*keepdim=*/true));
  return amax(add(rest, most), axes, keepdims);
}

}  // namespace

Value Export(const Reduction& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Shape axes = layer.AxesOf(Shape(x.sizes().begin() + 1, x.sizes().end()));
  switch (layer.kind) {
    case Reduction::Kind::kSum:
      return sum(x, axes, layer.keepdims);
    case Reduction::Kind::kMax:
      return amax(x, axes, layer.keepdims);
    case Reduction::Kind::kMin:
      return amin(x, axes, layer.keepdims);
    case Reduction::Kind::kVariance:
      return Variance(x, axes, layer.keepdims);
    case Reduction::Kind::kDeviation:
      return sqrt(Variance(x, axes, layer.keepdims));
    case Reduction::Kind::kNorm:
      return sqrt(sum(square(x), axes, layer.keepdims));
    case Reduction::Kind::kLogSumExp:
      return LogSumExp(x, axes, layer.keepdims);
    case Reduction::Kind::kProduct:
      return prod(x, axes, layer.keepdims);
    case Reduction::Kind::kMean:
      break;
  }
  return mean(x, axes, layer.keepdims);
}

}  // namespace layers
}  // namespace hopper
