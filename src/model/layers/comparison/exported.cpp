#include "model/exported/export_layer.h"
#include "model/layers/comparison/comparison.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

Value IsSo(Comparison::Relation relation, const Value& a, const Value& b) {
  using Relation = Comparison::Relation;
  switch (relation) {
    case Relation::kBoth:
      return logical_and(ne(a, 0.0), ne(b, 0.0));
    case Relation::kEither:
      return logical_or(ne(a, 0.0), ne(b, 0.0));
    case Relation::kEqual:
      return eq(a, b);
    case Relation::kGreater:
      return gt(a, b);
    case Relation::kGreaterEqual:
      return ge(a, b);
    case Relation::kLess:
      return gt(b, a);
    case Relation::kLessEqual:
      return ge(b, a);
    case Relation::kNotEqual:
      break;
  }
  return logical_not(eq(a, b));
}

}  // namespace

Value Export(const Comparison& layer, const ExportCall& call) {
  const Value b = call.inputs.size() == 1 ? call.graph->Number(layer.number) : call.inputs[1];
  return IsSo(layer.relation, call.x(), b).to(ops::Type::kFloat);
}

}  // namespace layers
}  // namespace hopper
