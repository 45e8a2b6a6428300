// The planned forms of all layers.
#include "model/layers/table.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace {

template <typename L>
std::unique_ptr<PlannedOp> Make(const Layer& layer, PlanNode* node) {
  return Plan(static_cast<const L&>(layer), node);
}

template <typename... L>
std::unique_ptr<PlannedOp> MakeAt(LayerList<L...> /*layers*/, size_t place, const Layer& layer,
                                  PlanNode* node) {
  static constexpr std::unique_ptr<PlannedOp> (*kMake[])(const Layer&, PlanNode*) = {Make<L>...};
  return kMake[place](layer, node);
}

}  // namespace

std::unique_ptr<PlannedOp> PlanLayer(const Layer& layer, PlanNode* node) {
  return MakeAt(Layers(), layer.place(), layer, node);
}

}  // namespace hopper
