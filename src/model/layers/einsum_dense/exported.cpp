#include "model/exported/export_layer.h"
#include "model/layers/einsum_dense/einsum_dense.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const EinsumDense& layer, const ExportCall& call) {
  const Value& x = call.x();
  const Equation equation = layer.EquationOf({x.sizes().begin() + 1, x.sizes().end()});
  Shape shape = equation.shape();
  shape.insert(shape.begin(), -1);
  Value y = ops::einsum(equation.Text(/*all_with_batch=*/false), {x, call.weights[0]}, shape);
  if (call.weights.size() > 1) y = add(y, call.weights[1]);
  return Activate(y, layer.activation);
}

}  // namespace layers
}  // namespace hopper
