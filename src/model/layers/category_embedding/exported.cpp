#include "model/exported/export_layer.h"
#include "model/layers/category_embedding/category_embedding.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const CategoryEmbedding& layer, const ExportCall& call) {
  const auto columns = static_cast<int64_t>(layer.input_dims.size());
  const std::vector<float> first(layer.first_rows.begin(), layer.first_rows.end());
  // Whole numbers before the sum, which rounds no id then.
  const Value ids = call.x().to(ops::Type::kInt64).to(ops::Type::kFloat);
  const Value rows = add(ids, call.graph->Constant(first, {columns}));
  return reshape(embedding(call.weights[0], rows), {-1, columns * layer.output_dim});
}

}  // namespace layers
}  // namespace hopper
