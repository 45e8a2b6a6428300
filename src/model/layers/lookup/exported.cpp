#include "model/exported/export_layer.h"
#include "model/layers/lookup/text_vectorization.h"

namespace hopper {
namespace layers {

ops::Value Export(const TextVectorization& layer, const ExportCall& call) {
  const ops::Value& x = call.x();
  if (layer.mode == TextVectorization::Mode::kMultiHot) return clamp_max(x, 1.0);
  if (layer.mode != TextVectorization::Mode::kTfIdf) return x;
  return mul(x, call.graph->Constant({layer.weights.begin(), layer.weights.end()},
                                     {static_cast<int64_t>(layer.weights.size())}));
}

}  // namespace layers
}  // namespace hopper
