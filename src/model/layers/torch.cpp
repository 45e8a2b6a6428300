// The tensors of all layers.
#include "model/layers/table.h"
#include "model/network/operator.h"

namespace hopper {
namespace {

template <typename L>
std::unique_ptr<Operator> Make(const Layer& layer) {
  return MakeOperator(static_cast<const L&>(layer));
}

template <typename... L>
std::unique_ptr<Operator> MakeAt(LayerList<L...> /*layers*/, size_t place, const Layer& layer) {
  static constexpr std::unique_ptr<Operator> (*kMake[])(const Layer&) = {Make<L>...};
  return kMake[place](layer);
}

}  // namespace

std::unique_ptr<Operator> OperatorOf(const Layer& layer) {
  return MakeAt(Layers(), layer.place(), layer);
}

}  // namespace hopper
