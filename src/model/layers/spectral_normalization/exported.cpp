#include "model/exported/export_layer.h"
#include "model/layers/spectral_normalization/spectral_normalization.h"

namespace hopper {
namespace layers {

// In inference the kernel is used as it is.
ops::Value Export(const SpectralNormalization& layer, const ExportCall& call) {
  ExportCall own = call.With(call.inputs);
  const size_t place = layer.PlaceOfVector(own.weights.size());
  own.weights.erase(own.weights.begin() + static_cast<std::ptrdiff_t>(place));
  return ExportLayer(layer.inner(), own);
}

}  // namespace layers
}  // namespace hopper
