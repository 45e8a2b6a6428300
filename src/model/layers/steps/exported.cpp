#include "model/exported/export_layer.h"
#include "model/layers/steps/steps.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const ZeroPadding1D& layer, const ExportCall& call) {
  return pad(call.x(), {0, layer.padding[0], 0}, {0, layer.padding[1], 0});
}

Value Export(const Cropping1D& layer, const ExportCall& call) {
  const Value& x = call.x();
  return narrow(x, 1, layer.cropping[0], x.size(1) - layer.cropping[0] - layer.cropping[1]);
}

Value Export(const UpSampling1D& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Value steps = expand(reshape(x, {-1, x.size(1), 1, x.size(2)}), {1, 1, layer.size, 1});
  return reshape(steps, {-1, x.size(1) * layer.size, x.size(2)});
}

Value Export(const RepeatVector& layer, const ExportCall& call) {
  return expand(reshape(call.x(), {-1, 1, call.x().size(1)}), {1, layer.n, 1});
}

}  // namespace layers
}  // namespace hopper
