#include "model/exported/export_layer.h"
#include "model/layers/constant/constant.h"

namespace hopper {
namespace layers {

ops::Value Export(const Constant& layer, const ExportCall& call) {
  Shape sizes = layer.shape;
  sizes.insert(sizes.begin(), 1);
  return call.graph->Constant(layer.values, sizes);
}

}  // namespace layers
}  // namespace hopper
