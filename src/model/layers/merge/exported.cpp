#include <algorithm>

#include "model/exported/export_layer.h"
#include "model/layers/merge/merge.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

using Kind = Merge::Kind;

Value WithRank(const Value& x, int64_t rank) {
  Shape sizes = x.sizes();
  sizes.insert(sizes.begin() + 1, static_cast<size_t>(rank - x.dim()), 1);
  return reshape(x, sizes);
}

Value Merged(const Merge& layer, const Value& a, const Value& b) {
  switch (layer.kind) {
    case Kind::kSubtract:
      return sub(a, b);
    case Kind::kMultiply:
      return mul(a, b);
    case Kind::kDivide:
      return div(a, b);
    case Kind::kMaximum:
      return maximum(a, b);
    case Kind::kMinimum:
      return minimum(a, b);
    case Kind::kAdd:
    case Kind::kAverage:
      break;
  }
  return add(a, layer.scale == 1.0 ? b : mul(b, layer.scale));
}

}  // namespace

Value Export(const Merge& layer, const ExportCall& call) {
  int64_t rank = 0;
  for (const Value& input : call.inputs) rank = std::max(rank, input.dim());
  Value merged = WithRank(call.x(), rank);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    merged = Merged(layer, merged, WithRank(call.inputs[i], rank));
  }
  if (layer.kind != Kind::kAverage) return merged;
  return div(merged, static_cast<double>(call.inputs.size()));
}

}  // namespace layers
}  // namespace hopper
