#include "model/exported/export_layer.h"
#include "model/layers/ensemble_average/ensemble_average.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const EnsembleAverage& layer, const ExportCall& call) {
  return mean(Activate(call.x(), layer.activation), {1}, /*keepdim=*/false);
}

}  // namespace layers
}  // namespace hopper
