#include "model/exported/export_layer.h"
#include "model/layers/embedding/embedding.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Embedding& /*layer*/, const ExportCall& call) {
  return embedding(call.weights[0], call.x());
}

}  // namespace layers
}  // namespace hopper
