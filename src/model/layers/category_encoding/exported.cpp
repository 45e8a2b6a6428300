#include "model/exported/export_layer.h"
#include "model/layers/category_encoding/category_encoding.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

// Of whole numbers.
Value Encode(const Encoding& encoding, const Value& given) {
  if (encoding.mode == Encoding::Mode::kNumbers) return given;
  Shape sizes = given.sizes();
  if (encoding.mode == Encoding::Mode::kOneHot && sizes.size() > 1 && sizes.back() == 1)
    sizes.pop_back();
  sizes.push_back(1);
  std::vector<float> all;
  for (int64_t i = 0; i < encoding.depth; ++i)
    all.push_back(static_cast<float>(encoding.first + i));
  const Value numbers = given.graph()->Constant(all, {encoding.depth});
  const Value hits = eq(reshape(given, sizes), numbers).to(ops::Type::kFloat);
  if (encoding.mode == Encoding::Mode::kOneHot) return hits;
  const Value counts = sum(hits, {-2});
  return encoding.mode == Encoding::Mode::kCount ? counts : clamp_max(counts, 1.0);
}

}  // namespace

Value Export(const IdLayer& layer, const ExportCall& call) {
  // An id that is not there hits nothing.
  return Encode(layer.encoding, call.x().to(ops::Type::kInt64).to(ops::Type::kFloat));
}

Value Export(const Discretization& layer, const ExportCall& call) {
  const Value& x = call.x();
  Shape sizes = x.sizes();
  sizes.push_back(1);
  const auto n = static_cast<int64_t>(layer.boundaries.size());
  const Value all = call.graph->Constant({layer.boundaries.begin(), layer.boundaries.end()}, {n});
  // One on a boundary belongs to the range behind it.
  return Encode(layer.encoding, sum(ge(reshape(x, sizes), all), {-1}));
}

}  // namespace layers
}  // namespace hopper
