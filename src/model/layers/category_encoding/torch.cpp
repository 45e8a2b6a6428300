#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bucketize.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/where.h>

#include <limits>

#include "model/layers/category_encoding/category_encoding.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

// Of whole numbers as floats.
at::Tensor Encode(const Encoding& encoding, at::Tensor numbers) {
  if (encoding.mode == Encoding::Mode::kNumbers) return numbers;
  const bool lone = numbers.dim() > 1 && numbers.size(-1) == 1;
  if (encoding.mode == Encoding::Mode::kOneHot && lone) numbers = numbers.squeeze(-1);
  const at::Tensor all =
      at::arange(encoding.first, encoding.first + encoding.depth, numbers.options());
  const at::Tensor hits = numbers.unsqueeze(-1).eq(all).to(numbers.scalar_type());
  if (encoding.mode == Encoding::Mode::kOneHot) return hits;
  const at::Tensor counts = at::sum(hits, {-2});
  return encoding.mode == Encoding::Mode::kCount ? counts : counts.clamp_max(1.0);
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const IdLayer& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext&) -> at::Tensor {
    const at::Tensor ids = at::trunc(inputs[0].detach().to(at::kFloat));
    const auto depth = static_cast<float>(layer.encoding.first + layer.encoding.depth);
    if (ids.is_cpu()) {
      const at::Tensor flat = ids.contiguous();
      const float* values = flat.const_data_ptr<float>();
      for (int64_t i = 0; i < flat.numel(); ++i) {
        if (!(values[i] >= 0.0F && values[i] < depth)) layer.ThrowNoId(values[i]);
      }
      return Encode(layer.encoding, ids).to(inputs[0].scalar_type());
    }
    // A GPU does not stop for a wrong id: it gets values that are no numbers, which end the model.
    const at::Tensor outside = ids.ge(0.0).logical_and(ids.lt(depth)).logical_not().any();
    const at::Tensor y = Encode(layer.encoding, ids);
    return at::where(outside, at::full_like(y, std::numeric_limits<double>::quiet_NaN()), y)
        .to(inputs[0].scalar_type());
  });
}

std::unique_ptr<Operator> MakeOperator(const Discretization& layer) {
  const std::vector<float> boundaries(layer.boundaries.begin(), layer.boundaries.end());
  return MakeFunctionOperator([&layer, boundaries](const std::vector<at::Tensor>& inputs,
                                                   const std::vector<at::Tensor>&,
                                                   const ForwardContext&) -> at::Tensor {
    const at::Tensor x = inputs[0].detach().to(at::kFloat);
    const at::Tensor all = at::from_blob(const_cast<float*>(boundaries.data()),
                                         {static_cast<int64_t>(boundaries.size())},
                                         at::TensorOptions().dtype(at::kFloat))
                               .to(x.device());
    const at::Tensor ranges =
        at::bucketize(x.contiguous(), all, /*out_int32=*/false, /*right=*/true).to(at::kFloat);
    return Encode(layer.encoding, ranges).to(inputs[0].scalar_type());
  });
}

}  // namespace layers
}  // namespace hopper
