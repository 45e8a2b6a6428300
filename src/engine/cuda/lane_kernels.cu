#include <algorithm>

#include "base/bf16.h"
#include "base/philox.h"
#include "base/philox_element.h"
#include "engine/cuda/lane_kernels.h"

namespace hopper {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 2048;      // of one lane; further elements are taken in turns
constexpr int64_t kChunk = 4 * kThreads;  // weights that a block updates

// Four elements come from one Philox block, so that a thread makes all four; `value` makes a float
// of an element's bits.
template <typename Value>
__global__ void RandomKernel(const int64_t* seeds, const int64_t* steps, uint32_t layer,
                             Value value, int64_t elements, float* values) {
  const int64_t lane = blockIdx.y;
  const uint64_t seed = static_cast<uint64_t>(seeds[lane]);
  const uint64_t step = static_cast<uint64_t>(steps[lane]);
  float* out = values + lane * elements;
  const int64_t blocks = (elements + 3) / 4;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t b = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; b < blocks;
       b += stride) {
#pragma unroll
    for (int64_t j = 0; j < 4; ++j) {
      const int64_t i = 4 * b + j;
      if (i >= elements) break;
      const uint32_t bits = PhiloxElement(seed, static_cast<uint32_t>(Purpose::kDropout), layer,
                                          step, static_cast<uint64_t>(i));
      out[i] = value(bits);
    }
  }
}

struct MaskValue {
  uint32_t threshold;
  float scale;
  __device__ float operator()(uint32_t bits) const {
    return (bits >> 8) >= threshold ? scale : 0.0F;
  }
};
struct UniformValue {
  __device__ float operator()(uint32_t bits) const { return PhiloxUniform(bits); }
};

// A block's sum of `sum` of all its threads, in a fixed order.
__device__ double BlockSum(double sum) {
  __shared__ double sums[kThreads];
  __syncthreads();
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

__device__ double* PartsOf(const LaneUpdate& update, int64_t lane, int64_t s, NormSum of) {
  return update.squares + ((lane * update.n_spans + s) * kNormSums + of) * kNormParts;
}

// Grid (kNormParts, spans, lanes): each block leaves one partial sum, added up in a fixed order.
__global__ void SquaresKernel(LaneUpdate update) {
  const int64_t lane = blockIdx.z;
  const int64_t s = blockIdx.y;
  const LaneSpan span = update.spans[s];
  const float* params = update.params + lane * update.flat_size + span.offset;
  const float* gradients = update.gradients + lane * update.flat_size + span.offset;
  double sum = 0.0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < span.size;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const double g = RegularizedGradient(span, params[i], gradients[i]);
    sum += g * g;
  }
  sum = BlockSum(sum);
  if (threadIdx.x == 0) PartsOf(update, lane, s, kGradientSquares)[blockIdx.x] = sum;
}

__device__ double SumOfParts(const LaneUpdate& update, int64_t lane, int64_t s, NormSum of) {
  const double* parts = PartsOf(update, lane, s, of);
  double sum = 0.0;
  for (int i = 0; i < kNormParts; ++i) sum += parts[i];
  return sum;
}

__device__ LaneClip ClipOf(const LaneUpdate& update, const LaneRule& rule, int64_t lane,
                           int64_t s) {
  double squares = 0.0, all = 0.0;
  if (rule.clipnorm != 0.0F) squares = SumOfParts(update, lane, s, kGradientSquares);
  if (rule.global_clipnorm != 0.0F) {
    for (int i = 0; i < update.n_spans; ++i) all += SumOfParts(update, lane, i, kGradientSquares);
  }
  return MakeLaneClip(rule, squares, all);
}

// Grid (kNormParts, spans, lanes): the first pass of kernels by norms, in the other lanes nothing.
// A weight that is read for the clip's norms was not decayed yet: those were summed before.
__global__ void UpdatesKernel(LaneUpdate update) {
  const int64_t lane = blockIdx.z;
  const int64_t s = blockIdx.y;
  const LaneRule rule = update.rules[lane];
  if (rule.by_norms == 0) return;
  const LaneSpan span = update.spans[s];
  const LaneScalars scalars = ScalarsOf(update, lane, span);
  const LaneClip clip = ClipOf(update, rule, lane, s);
  float* w = update.params + lane * update.flat_size + span.offset;
  float* g = update.gradients + lane * update.flat_size + span.offset;
  float* slots = update.slots + lane * update.n_slots * update.slot_size + span.slot_offset;
  double weights = 0.0, updates = 0.0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < span.size;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    float u = ClippedGradient(rule, clip, RegularizedGradient(span, w[i], g[i]));
    UpdateElement(rule, span, scalars, &u, w + i, slots + i, update.slot_size);
    g[i] = u;
    weights += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    updates += static_cast<double>(u) * static_cast<double>(u);
  }
  weights = BlockSum(weights);
  updates = BlockSum(updates);
  if (threadIdx.x != 0) return;
  PartsOf(update, lane, s, kWeightSquares)[blockIdx.x] = weights;
  PartsOf(update, lane, s, kUpdateSquares)[blockIdx.x] = updates;
}

// The first span that ends behind this place of a lane's weights.
__device__ int FirstSpanBehind(const LaneUpdate& update, int64_t place) {
  int first = 0;
  int last = update.n_spans;
  while (first < last) {
    const int middle = (first + last) / 2;
    const LaneSpan& span = update.spans[middle];
    if (span.offset + span.size > place) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

// Grid (chunks, lanes): a block takes what lies in its chunk of a lane's weights.
__global__ void UpdateKernel(LaneUpdate update) {
  const int64_t lane = blockIdx.y;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kChunk;
  const int64_t end = begin + kChunk;
  const LaneRule rule = update.rules[lane];
  for (int s = FirstSpanBehind(update, begin); s < update.n_spans; ++s) {
    const LaneSpan span = update.spans[s];
    if (span.offset >= end) break;
    const LaneScalars scalars = ScalarsOf(update, lane, span);
    const LaneClip clip = ClipOf(update, rule, lane, s);
    float scale = 0.0F;
    if (rule.by_norms != 0) {
      const auto weights = static_cast<float>(SumOfParts(update, lane, s, kWeightSquares));
      const auto updates = static_cast<float>(SumOfParts(update, lane, s, kUpdateSquares));
      scale = scalars.rate * NormRatio(std::sqrt(weights), std::sqrt(updates));
    }
    const int64_t at = lane * update.flat_size + span.offset;
    float* slots = update.slots + lane * update.n_slots * update.slot_size + span.slot_offset;
    const int64_t first = begin > span.offset ? begin - span.offset : 0;
    const int64_t last = end - span.offset < span.size ? end - span.offset : span.size;
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) {
      float* w = update.params + at + i;
      if (rule.by_norms != 0) {
        *w -= scale * update.gradients[at + i];
      } else {
        float g =
            ClippedGradient(rule, clip, RegularizedGradient(span, *w, update.gradients[at + i]));
        UpdateElement(rule, span, scalars, &g, w, slots + i, update.slot_size);
      }
      AverageElement(rule, scalars, w, slots + i, update.slot_size);
      if (update.shadow != nullptr) update.shadow[at + i] = ToBf16(*w);
    }
  }
}

unsigned Blocks(int64_t elements) {
  return static_cast<unsigned>(
      std::clamp<int64_t>((elements + kThreads - 1) / kThreads, 1, kMaxBlocks));
}

template <typename Value>
cudaError_t LaunchRandom(const int64_t* seeds, const int64_t* steps, uint32_t layer, Value value,
                         int64_t lanes, int64_t elements, float* values, cudaStream_t stream) {
  if (lanes == 0 || elements == 0) return cudaSuccess;
  const dim3 grid(Blocks((elements + 3) / 4), static_cast<unsigned>(lanes));
  RandomKernel<<<grid, kThreads, 0, stream>>>(seeds, steps, layer, value, elements, values);
  return cudaGetLastError();
}

}  // namespace

cudaError_t LaunchDropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer,
                              uint32_t threshold, float scale, int64_t lanes, int64_t elements,
                              float* mask, cudaStream_t stream) {
  return LaunchRandom(seeds, steps, layer, MaskValue{threshold, scale}, lanes, elements, mask,
                      stream);
}

cudaError_t LaunchUniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
                          int64_t elements, float* values, cudaStream_t stream) {
  return LaunchRandom(seeds, steps, layer, UniformValue{}, lanes, elements, values, stream);
}

cudaError_t LaunchLaneUpdate(const LaneUpdate& update, cudaStream_t stream) {
  if (update.lanes == 0 || update.n_spans == 0) return cudaSuccess;
  const auto spans = static_cast<unsigned>(update.n_spans);
  const auto lanes = static_cast<unsigned>(update.lanes);
  if (update.clips != 0) {
    SquaresKernel<<<dim3(kNormParts, spans, lanes), kThreads, 0, stream>>>(update);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) return status;
  }
  if (update.by_norms != 0) {
    UpdatesKernel<<<dim3(kNormParts, spans, lanes), kThreads, 0, stream>>>(update);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) return status;
  }
  const auto chunks = static_cast<unsigned>((update.flat_size + kChunk - 1) / kChunk);
  UpdateKernel<<<dim3(chunks, lanes), kThreads, 0, stream>>>(update);
  return cudaGetLastError();
}

}  // namespace hopper
