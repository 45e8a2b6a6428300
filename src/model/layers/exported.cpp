// The forms of all layers for other tools.
#include "model/exported/export_layer.h"
#include "model/layers/table.h"

namespace hopper {
namespace {

template <typename L>
ops::Value Make(const Layer& layer, const ExportCall& call) {
  return Export(static_cast<const L&>(layer), call);
}

template <typename... L>
ops::Value MakeAt(LayerList<L...> /*layers*/, size_t place, const Layer& layer,
                  const ExportCall& call) {
  static constexpr ops::Value (*kMake[])(const Layer&, const ExportCall&) = {Make<L>...};
  return kMake[place](layer, call);
}

}  // namespace

ops::Value ExportLayer(const Layer& layer, const ExportCall& call) {
  return MakeAt(Layers(), layer.place(), layer, call);
}

}  // namespace hopper
