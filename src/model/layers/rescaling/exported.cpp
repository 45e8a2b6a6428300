#include "model/exported/export_layer.h"
#include "model/layers/rescaling/rescaling.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

Value Values(const std::vector<double>& values, const ExportCall& call) {
  if (values.size() == 1) return call.graph->Number(values[0]);
  return call.graph->Constant({values.begin(), values.end()}, {call.x().size(-1)});
}

}  // namespace

Value Export(const Rescaling& layer, const ExportCall& call) {
  const Value y = mul(call.x(), Values(layer.scale, call));
  if (layer.offset.size() == 1 && layer.offset[0] == 0.0) return y;
  return add(y, Values(layer.offset, call));
}

}  // namespace layers
}  // namespace hopper
