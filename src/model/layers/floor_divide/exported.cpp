#include "model/exported/export_layer.h"
#include "model/layers/floor_divide/floor_divide.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const WholeDivision& layer, const ExportCall& call) {
  const Value& x = call.inputs[0];
  const Value& y = call.inputs[1];
  if (!layer.gives_rest) return floor(div(x, y));
  // C's rest has the sign of what is divided.
  const Value rest = fmod(x, y);
  const Value other = logical_or(logical_and(gt(rest, 0.0), gt(neg(y), 0.0)),
                                 logical_and(gt(neg(rest), 0.0), gt(y, 0.0)));
  return where(other, add(rest, y), rest);
}

}  // namespace layers
}  // namespace hopper
