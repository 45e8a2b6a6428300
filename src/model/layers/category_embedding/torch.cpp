#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

#include "model/layers/category_embedding/category_embedding.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kMostBf16Categories = 257;  // 0 to 256

// A number of each column, at each of its places in a row.
std::vector<int64_t> AtPlaces(const CategoryEmbedding& layer, const std::vector<int64_t>& columns) {
  std::vector<int64_t> values;
  for (size_t c = 0; c < columns.size(); ++c)
    values.insert(values.end(), layer.lengths[c], columns[c]);
  return values;
}

// Rows of weights by place, (examples, places, output_dim), those of a text as their mean.
at::Tensor MeansOfTexts(const CategoryEmbedding& layer, const at::Tensor& rows,
                        const at::Tensor& is_word) {
  std::vector<at::Tensor> parts;
  int64_t from = 0;
  for (const int64_t length : layer.lengths) {
    at::Tensor part = rows.narrow(1, from, length);
    if (length > 1) {
      const at::Tensor words = is_word.narrow(1, from, length).unsqueeze(-1);
      part = at::where(words, part, at::zeros_like(part)).sum(1, true) /
             words.sum(1, true).clamp_min(1).to(part.scalar_type());
    }
    parts.push_back(part);
    from += length;
  }
  return at::cat(parts, 1);
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const CategoryEmbedding& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext&) {
    const at::Tensor ids = inputs[0].detach();
    for (const int64_t dim : layer.input_dims) {
      if (ids.scalar_type() != at::kBFloat16 || dim <= kMostBf16Categories) continue;
      throw Error(
          ErrorCode::kNotSupported,
          "layer \"" + layer.name() + "\" of class CategoryEmbedding cannot take its ids in bf16",
          "Integers above 256 are rounded there.", "Train it in fp32.");
    }
    const at::Tensor first =
        at::tensor(AtPlaces(layer, layer.first_rows), ids.options().dtype(at::kLong));
    const auto rows_of = [&](const at::Tensor& whole) {
      return at::embedding(weights[0], whole.to(at::kLong) + first);
    };
    at::Tensor y;
    if (ids.is_cpu()) {
      const at::Tensor flat = ids.to(at::kFloat).contiguous();
      const float* values = flat.const_data_ptr<float>();
      for (int64_t i = 0; i < ids.size(0); ++i) {
        for (size_t c = 0; c < layer.lengths.size(); ++c) {
          for (int64_t k = 0; k < layer.lengths[c]; ++k) layer.RowOf(c, *values++);
        }
      }
      y = rows_of(ids);
    } else {
      // A GPU does not stop for a wrong id: it gets values that are no numbers, which end the
      // model.
      const at::Tensor dims =
          at::tensor(AtPlaces(layer, layer.input_dims), ids.options().dtype(at::kLong));
      const at::Tensor inside = ids.gt(-1.0).logical_and(ids.lt(dims));
      y = rows_of(at::where(inside, ids, at::full_like(ids, 0.0)));
      y = at::where(inside.unsqueeze(-1), y,
                    at::full_like(y, std::numeric_limits<double>::quiet_NaN()));
    }
    if (layer.has_texts()) y = MeansOfTexts(layer, y, ids.to(at::kLong).ne(0));
    return y.reshape({ids.size(0), -1});
  });
}

}  // namespace layers
}  // namespace hopper
