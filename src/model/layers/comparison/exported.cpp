#include "model/exported/export_layer.h"
#include "model/layers/comparison/comparison.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Comparison& layer, const ExportCall& call) {
  using Relation = Comparison::Relation;
  const Value x = call.x();
  const Value number = call.graph->Number(layer.number);
  const Value one = call.graph->Number(1.0);
  const Value zero = call.graph->Number(0.0);
  switch (layer.relation) {
    case Relation::kEqual:
      return where(ne(x, layer.number), zero, one);
    case Relation::kGreater:
      return where(gt(x, layer.number), one, zero);
    case Relation::kGreaterEqual:
      return where(ge(x, number), one, zero);
    case Relation::kLess:
      return where(ge(x, number), zero, one);
    case Relation::kLessEqual:
      return where(gt(x, layer.number), zero, one);
    case Relation::kNotEqual:
      break;
  }
  return where(ne(x, layer.number), one, zero);
}

}  // namespace layers
}  // namespace hopper
