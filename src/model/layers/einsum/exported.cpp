#include "model/exported/export_layer.h"
#include "model/layers/einsum/einsum.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Einsum& layer, const ExportCall& call) {
  std::vector<Value> operands = call.inputs;
  std::vector<Shape> shapes;
  for (const Value& x : operands) shapes.emplace_back(x.sizes().begin() + 1, x.sizes().end());
  for (const int64_t place : layer.arrays) {
    Value& array = operands[static_cast<size_t>(place)];
    array = reshape(array, shapes[static_cast<size_t>(place)]);
  }
  const Equation equation = layer.Of(shapes);
  Shape shape = equation.shape();
  shape.insert(shape.begin(), -1);
  return einsum(equation.Text(/*all_with_batch=*/false), operands, shape);
}

}  // namespace layers
}  // namespace hopper
