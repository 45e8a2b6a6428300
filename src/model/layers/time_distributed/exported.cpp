#include "model/exported/export_layer.h"
#include "model/layers/time_distributed/time_distributed.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const TimeDistributed& layer, const ExportCall& call) {
  // Steps are more examples.
  const Value& x = call.x();
  Shape sizes = x.sizes();
  sizes.erase(sizes.begin());
  sizes[0] = -1;
  const Value y = ExportLayer(layer.inner(), call.With({reshape(x, sizes)}));
  sizes = y.sizes();
  sizes[0] = x.size(1);
  sizes.insert(sizes.begin(), -1);
  return reshape(y, sizes);
}

}  // namespace layers
}  // namespace hopper
