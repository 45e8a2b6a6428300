#include "model/network/random_mask.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

#include "base/philox.h"
#include "model/layers/dropout/dropout.h"
#include "model/network/lanes.h"

namespace hopper {
namespace {

using layers::kDropoutChunk;

// Of lanes: one of them, or all as one batch.
at::Tensor LaneMask(const ForwardContext& context, at::IntArrayRef sizes, double rate,
                    const at::Tensor& like, int64_t before) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  const bool folded = context.lane < 0;
  if (folded) n /= context.lanes;
  const at::Tensor all = at::empty({context.lanes, before + n}, like.options().dtype(at::kFloat));
  context.random->DropoutMask(context.layer, layers::DroppedValues(rate), layers::KeptScale(rate),
                              all);
  const at::Tensor ours = all.narrow(1, before, n);
  return (folded ? ours : ours.select(0, context.lane)).reshape(sizes);
}

}  // namespace

at::Tensor RandomMask(const ForwardContext& context, at::IntArrayRef sizes, double rate,
                      const at::Tensor& like, int64_t before) {
  if (context.random != nullptr) return LaneMask(context, sizes, rate, like, before);
  at::Tensor mask = at::empty(sizes, at::TensorOptions().dtype(at::kFloat));
  const int64_t size = mask.numel();
  float* values = mask.mutable_data_ptr<float>();
  const Philox philox(context.seed, Purpose::kDropout, context.layer,
                      static_cast<uint64_t>(context.step));
  const uint32_t dropped = layers::DroppedValues(rate);
  const float scale = layers::KeptScale(rate);
  uint32_t bits[kDropoutChunk];
  for (int64_t first = 0; first < size; first += kDropoutChunk) {
    const int64_t n = std::min(kDropoutChunk, size - first);
    philox.Fill(static_cast<uint64_t>(before + first), static_cast<uint64_t>(n), bits);
    for (int64_t i = 0; i < n; ++i) values[first + i] = (bits[i] >> 8) >= dropped ? scale : 0.0F;
  }
  return like.device() == mask.device() ? mask : mask.to(like.device());
}

}  // namespace hopper
