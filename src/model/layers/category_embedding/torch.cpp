#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <limits>

#include "model/layers/category_embedding/category_embedding.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kMostBf16Categories = 257;  // 0 to 256

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
    const at::Tensor first = at::tensor(layer.first_rows, ids.options().dtype(at::kLong));
    const auto rows_of = [&](const at::Tensor& whole) {
      return at::embedding(weights[0], whole.to(at::kLong) + first);
    };
    at::Tensor y;
    if (ids.is_cpu()) {
      const at::Tensor flat = ids.to(at::kFloat).contiguous();
      const float* values = flat.const_data_ptr<float>();
      const size_t columns = layer.input_dims.size();
      for (int64_t i = 0; i < flat.numel(); ++i) {
        layer.RowOf(static_cast<size_t>(i) % columns, values[i]);
      }
      y = rows_of(ids);
    } else {
      // A GPU does not stop for a wrong id: it gets values that are no numbers, which end the
      // model.
      const at::Tensor dims = at::tensor(layer.input_dims, ids.options().dtype(at::kLong));
      const at::Tensor inside = ids.gt(-1.0).logical_and(ids.lt(dims));
      y = rows_of(at::where(inside, ids, at::full_like(ids, 0.0)));
      y = at::where(inside.unsqueeze(-1), y,
                    at::full_like(y, std::numeric_limits<double>::quiet_NaN()));
    }
    return y.reshape({ids.size(0), -1});
  });
}

}  // namespace layers
}  // namespace hopper
