#include "model/exported/export_layer.h"
#include "model/layers/periodic_embedding/periodic_embedding.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const PeriodicEmbedding& layer, const ExportCall& call) {
  const Value& x = call.x();
  const int64_t n = x.sizes().back();
  const Value turns = mul(mul(reshape(x, {-1, n, 1}), call.weights[0]), 2.0 * 3.14159265358979324);
  const Value cosines = cos(add(turns, call.weights[1]));
  const Value products =
      ops::einsum("bfk,fku->bfu", {cosines, call.weights[2]}, {x.sizes()[0], n, layer.units});
  const Value y = reshape(add(products, call.weights[3]), {-1, n * layer.units});
  return layer.append_input ? ops::cat({y, x}, 1) : y;
}

}  // namespace layers
}  // namespace hopper
