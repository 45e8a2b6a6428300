#include "optim/lane_update.h"

#include <algorithm>

#include "base/bf16.h"
#include "optim/learning_rate.h"

namespace hopper {
namespace {

float LimitOf(const std::optional<double>& limit) {
  return limit && *limit > 0.0 ? static_cast<float>(*limit) : 0.0F;
}

}  // namespace

LaneRule MakeLaneRule(const OptimizerParams& optimizer) {
  LaneRule rule;
  rule.kernel = KernelPlace(optimizer);
  rule.by_norms = KernelAt(rule.kernel).by_norms ? 1 : 0;
  rule.slots = KernelAt(rule.kernel).slots;
  rule.use_ema = optimizer.use_ema ? 1 : 0;
  rule.first_slot = optimizer.type->first_slot(optimizer);
  rule.clipnorm = LimitOf(optimizer.clipnorm);
  rule.clipvalue = LimitOf(optimizer.clipvalue);
  rule.global_clipnorm = LimitOf(optimizer.global_clipnorm);
  return rule;
}

LaneScalars MakeLaneScalars(const OptimizerParams& optimizer, int64_t step, double lr_factor) {
  LaneScalars scalars;
  scalars.step = ScalarsAt(optimizer, step, lr_factor);
  scalars.rate = RateAt(optimizer, step, lr_factor);
  scalars.weight_decay = WeightDecay(optimizer, step);
  scalars.ema_keep = step == 0 ? 0.0F : static_cast<float>(optimizer.ema_momentum);
  const int64_t frequency = optimizer.ema_overwrite_frequency;
  scalars.ema_overwrite = frequency > 0 && (step + 1) % frequency == 0 ? 1 : 0;
  scalars.first = step == 0 ? 1 : 0;
  return scalars;
}

std::vector<double> LrFactors(const std::vector<TrainableSpan>& spans) {
  std::vector<double> factors;
  for (const TrainableSpan& span : spans) {
    if (std::find(factors.begin(), factors.end(), span.lr_factor) == factors.end()) {
      factors.push_back(span.lr_factor);
    }
  }
  if (factors.empty()) factors.push_back(1.0);
  return factors;
}

std::vector<LaneSpan> MakeLaneSpans(const std::vector<TrainableSpan>& spans) {
  std::vector<LaneSpan> result;
  const std::vector<double> factors = LrFactors(spans);
  for (const TrainableSpan& span : spans) {
    LaneSpan lane;
    lane.offset = span.offset;
    lane.slot_offset = span.slot_offset;
    lane.size = span.size;
    lane.l1 = static_cast<float>(span.l1);
    lane.twice_l2 = static_cast<float>(2.0 * span.l2);
    lane.decay_factor = static_cast<float>(span.decay_factor);
    lane.rate = static_cast<int32_t>(std::find(factors.begin(), factors.end(), span.lr_factor) -
                                     factors.begin());
    result.push_back(lane);
  }
  return result;
}

void UpdateLanes(const LaneUpdate& update) {
  const auto square = [](float x) { return static_cast<double>(x) * static_cast<double>(x); };
  for (int lane = 0; lane < update.lanes; ++lane) {
    const LaneRule& rule = update.rules[lane];
    float* params = update.params + lane * update.flat_size;
    float* gradients = update.gradients + lane * update.flat_size;
    float* slots = update.slots + lane * update.n_slots * update.slot_size;
    std::vector<double> squares(static_cast<size_t>(update.n_spans), 0.0);
    double all = 0.0;
    for (int s = 0; update.clips != 0 && s < update.n_spans; ++s) {
      const LaneSpan& span = update.spans[s];
      double& sum = squares[static_cast<size_t>(s)];
      for (int64_t i = 0; i < span.size; ++i) {
        sum +=
            square(RegularizedGradient(span, params[span.offset + i], gradients[span.offset + i]));
      }
      all += sum;
    }
    for (int s = 0; s < update.n_spans; ++s) {
      const LaneSpan& span = update.spans[s];
      const LaneScalars& scalars = ScalarsOf(update, lane, span);
      const LaneClip clip = MakeLaneClip(rule, squares[static_cast<size_t>(s)], all);
      float* w = params + span.offset;
      float* g = gradients + span.offset;
      float* slot = slots + span.slot_offset;
      double weights = 0.0, updates = 0.0;
      for (int64_t i = 0; i < span.size; ++i) {
        float u = ClippedGradient(rule, clip, RegularizedGradient(span, w[i], g[i]));
        UpdateElement(rule, span, scalars, &u, w + i, slot + i, update.slot_size);
        if (rule.by_norms == 0) continue;
        g[i] = u;
        weights += square(w[i]);
        updates += square(u);
      }
      const float scale = scalars.rate * NormRatio(std::sqrt(static_cast<float>(weights)),
                                                   std::sqrt(static_cast<float>(updates)));
      for (int64_t i = 0; i < span.size; ++i) {
        if (rule.by_norms != 0) w[i] -= scale * g[i];
        AverageElement(rule, scalars, w + i, slot + i, update.slot_size);
        if (update.shadow != nullptr) {
          update.shadow[lane * update.flat_size + span.offset + i] = ToBf16(w[i]);
        }
      }
    }
  }
}

}  // namespace hopper
