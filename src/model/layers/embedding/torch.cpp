#include <ATen/ops/clamp.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/where.h>

#include <limits>

#include "model/layers/embedding/embedding.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kMostBf16Ids = 257;  // 0 to 256

class EmbeddingOperator : public Operator {
 public:
  explicit EmbeddingOperator(const Embedding& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext&) const override {
    const at::Tensor ids = inputs[0].detach();
    if (ids.scalar_type() == at::kBFloat16 && layer_.input_dim > kMostBf16Ids) {
      throw Error(ErrorCode::kNotSupported,
                  "layer \"" + layer_.name() + "\" of class Embedding cannot take its ids in bf16",
                  "Integers above 256 are rounded there.", "Train it in fp32.");
    }
    if (ids.is_cpu()) {
      const at::Tensor flat = ids.to(at::kFloat).contiguous();
      const float* values = flat.const_data_ptr<float>();
      for (int64_t i = 0; i < flat.numel(); ++i) layer_.RowOf(values[i]);
      return at::embedding(weights[0], ids.to(at::kLong));
    }
    // A GPU does not stop for a wrong id: it gets values that are no numbers, which end the model.
    const at::Tensor inside =
        at::logical_and(ids.gt(-1.0), ids.lt(static_cast<double>(layer_.input_dim)));
    const at::Tensor rows = at::clamp(at::where(inside, ids, at::full_like(ids, 0.0)).to(at::kLong),
                                      0, layer_.input_dim - 1);
    const at::Tensor y = at::embedding(weights[0], rows);
    return at::where(inside.unsqueeze(-1), y,
                     at::full_like(y, std::numeric_limits<double>::quiet_NaN()));
  }

 private:
  const Embedding& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Embedding& layer) {
  return std::make_unique<EmbeddingOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
