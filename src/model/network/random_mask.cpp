#include "model/network/random_mask.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log.h>
#include <ATen/ops/sqrt.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/philox.h"
#include "base/philox_element.h"
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

// `rows` of uniform numbers for each element of a tensor of `n`, [rows][n].
at::Tensor UniformRows(const ForwardContext& context, int64_t rows, int64_t n,
                       const at::Tensor& like) {
  if (context.random != nullptr) {
    const bool folded = context.lane < 0;
    const int64_t own = folded ? n / context.lanes : n;
    const at::Tensor all = at::empty({context.lanes, rows * own}, like.options().dtype(at::kFloat));
    context.random->Uniform(context.layer, all);
    if (!folded) return all.select(0, context.lane).reshape({rows, n});
    return all.reshape({context.lanes, rows, own}).transpose(0, 1).reshape({rows, n});
  }
  at::Tensor numbers = at::empty({rows, n}, at::TensorOptions().dtype(at::kFloat));
  float* values = numbers.mutable_data_ptr<float>();
  const Philox philox(context.seed, Purpose::kDropout, context.layer,
                      static_cast<uint64_t>(context.step));
  uint32_t bits[kDropoutChunk];
  for (int64_t first = 0; first < rows * n; first += kDropoutChunk) {
    const int64_t count = std::min(kDropoutChunk, rows * n - first);
    philox.Fill(static_cast<uint64_t>(first), static_cast<uint64_t>(count), bits);
    for (int64_t i = 0; i < count; ++i) values[first + i] = PhiloxUniform(bits[i]);
  }
  return like.device() == numbers.device() ? numbers : numbers.to(like.device());
}

int64_t ElementsOf(at::IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

}  // namespace

at::Tensor RandomUniform(const ForwardContext& context, at::IntArrayRef sizes,
                         const at::Tensor& like) {
  return UniformRows(context, 1, ElementsOf(sizes), like).reshape(sizes);
}

at::Tensor RandomNormal(const ForwardContext& context, at::IntArrayRef sizes,
                        const at::Tensor& like) {
  // Box and Muller, of numbers in (0, 1].
  const at::Tensor uniform = UniformRows(context, 2, ElementsOf(sizes), like);
  const at::Tensor radius = at::sqrt(at::log(1.0 - uniform.select(0, 0)) * -2.0);
  return (radius * at::cos(uniform.select(0, 1) * (2.0 * M_PI))).reshape(sizes);
}

at::Tensor RandomMask(const ForwardContext& context, at::IntArrayRef sizes, double rate,
                      const at::Tensor& like, int64_t before) {
  if (context.random != nullptr) return LaneMask(context, sizes, rate, like, before);
  at::Tensor mask = at::empty(sizes, at::TensorOptions().dtype(at::kFloat));
  const int64_t size = mask.numel();
  float* values = mask.mutable_data_ptr<float>();
  const Philox philox(context.seed, Purpose::kDropout, context.layer,
                      static_cast<uint64_t>(context.step));
  rate *= context.dropout_factor;
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
