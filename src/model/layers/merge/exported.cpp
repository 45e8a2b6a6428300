#include <algorithm>

#include "model/exported/export_layer.h"
#include "model/layers/merge/merge.h"
#include "model/layers/merge/merge_masked.h"

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
  for (size_t i = 0; i < call.DataInputs(); ++i) rank = std::max(rank, call.inputs[i].dim());
  std::vector<Value> all, masks;
  for (size_t i = 0; i < call.DataInputs(); ++i) {
    all.push_back(WithRank(call.inputs[i], rank));
    // A tensor that gets axes loses its mask.
    Value mask = call.inputs[i].dim() < rank ? Value() : call.MaskOf(i);
    if (mask.defined()) {
      Shape sizes(static_cast<size_t>(rank), 1);
      sizes[0] = -1;
      sizes[1] = mask.size(1);
      mask = reshape(mask, sizes);
    }
    masks.push_back(mask);
  }
  if (layer.reads_masks()) {
    return MergeMasked(layer.kind, all, masks,
                       [&](const Value& a, const Value& b) { return Merged(layer, a, b); });
  }
  Value merged = all[0];
  for (size_t i = 1; i < all.size(); ++i) merged = Merged(layer, merged, all[i]);
  if (layer.kind != Kind::kAverage) return merged;
  return div(merged, static_cast<double>(all.size()));
}

}  // namespace layers
}  // namespace hopper
