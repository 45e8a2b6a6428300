#include "model/exported/export_layer.h"
#include "model/layers/category_embedding/category_embedding.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const CategoryEmbedding& layer, const ExportCall& call) {
  const auto columns = static_cast<int64_t>(layer.input_dims.size());
  std::vector<float> first;
  for (size_t c = 0; c < layer.lengths.size(); ++c) {
    first.insert(first.end(), layer.lengths[c], static_cast<float>(layer.first_rows[c]));
  }
  // Whole numbers before the sum, which rounds no id then.
  const Value ids = call.x().to(ops::Type::kInt64).to(ops::Type::kFloat);
  const Value rows = add(ids, call.graph->Constant(first, {layer.places}));
  const Value found = embedding(call.weights[0], rows);
  if (!layer.has_texts()) return reshape(found, {-1, columns * layer.output_dim});
  std::vector<Value> parts;
  int64_t from = 0;
  for (const int64_t length : layer.lengths) {
    Value part = narrow(found, 1, from, length);
    if (length > 1) {
      // What is no padding.
      const Value words = reshape(ne(narrow(ids, 1, from, length), 0.0), {-1, length, 1});
      part = div(sum(where(words, part, 0.0), {1}, true),
                 clamp_min(sum(words.to(ops::Type::kFloat), {1}, true), 1.0));
    }
    parts.push_back(part);
    from += length;
  }
  return reshape(cat(parts, 1), {-1, columns * layer.output_dim});
}

}  // namespace layers
}  // namespace hopper
