// One optimizer step of several models ("lanes") that lie side by side in memory, as tables and
// functions that serve the CPU and a GPU alike: what engine/cuda runs for each element is what is
// tested here on the CPU against ApplyOptimizer().
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "optim/optimizer.h"
#include "optim/table.h"

namespace hopper {

// What stays the same for a lane in all steps. Limits of 0 do not clip.
struct LaneRule {
  int32_t kernel = 0;    // its place, see KernelPlace()
  int32_t by_norms = 0;  // its step takes two passes
  int32_t slots = 0;     // of the kernel; the weights' average comes after them
  int32_t use_ema = 0;
  float first_slot = 0.0F;  // what the first slot starts at
  float clipnorm = 0.0F;
  float clipvalue = 0.0F;
  float global_clipnorm = 0.0F;
};

// What a lane's step needs beside that: a row of a table that is made for many steps at once.
struct LaneScalars {
  StepScalars step;
  float rate = 0.0F;          // of the learning rate's schedule
  float ema_keep = 0.0F;      // share of the average that stays
  int32_t ema_overwrite = 0;  // this step replaces the weights by their average
  int32_t first = 0;          // the first step of all
  float weight_decay = 0.0F;  // of its schedule
  int32_t padding = 0;
};
static_assert(sizeof(LaneScalars) == 64, "a row of a table");

// A trainable weight in the buffers of one lane.
struct LaneSpan {
  int64_t offset = 0;
  int64_t slot_offset = 0;
  int64_t size = 0;
  float l1 = 0.0F;
  float twice_l2 = 0.0F;
  float decay_factor = 1.0F;
  int32_t rate = 0;  // its factor of the learning rate, among LrFactors()
};

LaneRule MakeLaneRule(const OptimizerParams& optimizer);
LaneScalars MakeLaneScalars(const OptimizerParams& optimizer, int64_t step, double lr_factor = 1.0);
// The factors of the learning rate that spans have, each once, at least one.
std::vector<double> LrFactors(const std::vector<TrainableSpan>& spans);
std::vector<LaneSpan> MakeLaneSpans(const std::vector<TrainableSpan>& spans);

// A step of all lanes. All pointers are to the device's memory; lane k's parameters start at
// params + k * flat_size, its slots at slots + k * n_slots * slot_size.
struct LaneUpdate {
  int32_t lanes = 0;
  int32_t n_spans = 0;
  int32_t n_slots = 0;   // the most that any lane has
  int32_t clips = 0;     // some lane clips by norm
  int32_t by_norms = 0;  // some lane's kernel is by norms
  int64_t flat_size = 0;
  int64_t slot_size = 0;
  const LaneSpan* spans = nullptr;     // by offset, apart from one another
  const LaneRule* rules = nullptr;     // [lanes]
  const LaneScalars* table = nullptr;  // [steps][lanes][n_rates]
  const int64_t* row = nullptr;        // of the table
  int32_t n_rates = 1;                 // LrFactors()
  float* params = nullptr;
  float* gradients = nullptr;  // as params; kernels by norms leave their updates there
  float* slots = nullptr;
  uint16_t* shadow = nullptr;  // bfloat16, as params; may be null
  double* squares = nullptr;   // scratch: [lanes][n_spans][kNormSums][kNormParts]
};

// What a lane's step needs for a span.
HOPPER_HOST_DEVICE inline const LaneScalars& ScalarsOf(const LaneUpdate& update, int64_t lane,
                                                       const LaneSpan& span) {
  return update.table[(*update.row * update.lanes + lane) * update.n_rates + span.rate];
}

// Sums of a span's squares, each in parts: of the gradients before clipping; of the weights and of
// their updates (kernels by norms).
enum NormSum { kGradientSquares, kWeightSquares, kUpdateSquares, kNormSums };
constexpr int kNormParts = 32;

// Runs a step on the CPU, element by element: a reference, not made for speed.
void UpdateLanes(const LaneUpdate& update);

HOPPER_HOST_DEVICE inline float RegularizedGradient(const LaneSpan& span, float w, float g) {
  if (span.twice_l2 != 0.0F) g += span.twice_l2 * w;
  if (span.l1 != 0.0F) g += w > 0.0F ? span.l1 : (w < 0.0F ? -span.l1 : 0.0F);
  return g;
}

// What a span's gradients are multiplied with and divided by; see ClipNorm() in optimizer.cpp.
struct LaneClip {
  float factor = 1.0F;
  float norm = 0.0F;      // above 0 (or NaN): g * factor / norm
  float together = 1.0F;  // all spans' factor
  bool by_norm = false;
  bool by_all = false;
};

// `squares` is the span's sum, `all` that of all spans.
HOPPER_HOST_DEVICE inline LaneClip MakeLaneClip(const LaneRule& rule, double squares, double all) {
  LaneClip clip;
  if (rule.global_clipnorm != 0.0F) {
    const float norm = std::sqrt(static_cast<float>(all));
    const float inverse = 1.0F / norm, largest = 1.0F / rule.global_clipnorm;
    clip.together = rule.global_clipnorm * (largest < inverse ? largest : inverse) + (norm - norm);
    clip.by_all = true;
  } else if (rule.clipnorm != 0.0F) {
    clip.norm = std::sqrt(static_cast<float>(squares));
    clip.factor = rule.clipnorm;
    clip.by_norm = !(clip.norm <= rule.clipnorm);
  }
  return clip;
}

HOPPER_HOST_DEVICE inline float ClippedGradient(const LaneRule& rule, const LaneClip& clip,
                                                float g) {
  if (clip.by_all) return g * clip.together;
  if (clip.by_norm) g = g * clip.factor / clip.norm;
  const float limit = rule.clipvalue;
  if (limit != 0.0F) g = g > limit ? limit : (g < -limit ? -limit : g);
  return g;
}

// One element: decays the weight, takes the kernel's step or finds its update, and moves the slots
// (those of the kernel lie `slot_stride` floats apart, then comes the average), in the order of
// ApplyOptimizer(). *g is regularized and clipped; a kernel by norms leaves its update there.
HOPPER_HOST_DEVICE inline void UpdateElement(const LaneRule& rule, const LaneSpan& span,
                                             const LaneScalars& scalars, float* g, float* w,
                                             float* slot, int64_t slot_stride) {
  const float decay = scalars.weight_decay * span.decay_factor;
  if (decay != 0.0F) *w -= *w * decay * scalars.rate;
  if (rule.first_slot != 0.0F && scalars.first != 0) *slot = rule.first_slot;
  RunKernelAt(AllKernels(), rule.kernel, scalars.step, w, g, slot, slot_stride);
}

// After the new weight is known.
HOPPER_HOST_DEVICE inline void AverageElement(const LaneRule& rule, const LaneScalars& scalars,
                                              float* w, float* slot, int64_t slot_stride) {
  if (rule.use_ema == 0) return;
  float* average = slot + rule.slots * slot_stride;
  *average = scalars.ema_keep * *average + (1.0F - scalars.ema_keep) * *w;
  if (scalars.ema_overwrite != 0) *w = *average;
}

}  // namespace hopper
