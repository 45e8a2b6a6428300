#include "optim/lane_update.h"

#include "optim/learning_rate.h"
#include "optim/step_scalars.h"

namespace hopper {
namespace {

UpdateKind KindOf(const OptimizerParams& optimizer) {
  const bool momentum = optimizer.momentum != 0.0;
  switch (optimizer.kind) {
    case OptimizerKind::kSgd:
      if (!momentum) return UpdateKind::kSgd;
      return optimizer.nesterov ? UpdateKind::kNesterov : UpdateKind::kMomentum;
    case OptimizerKind::kRmsprop:
      if (optimizer.centered) {
        return momentum ? UpdateKind::kRmspropCenteredMomentum : UpdateKind::kRmspropCentered;
      }
      return momentum ? UpdateKind::kRmspropMomentum : UpdateKind::kRmsprop;
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW:
      return optimizer.amsgrad ? UpdateKind::kAdamAmsgrad : UpdateKind::kAdam;
    case OptimizerKind::kAdagrad:
      return UpdateKind::kAdagrad;
    case OptimizerKind::kAdadelta:
      return UpdateKind::kAdadelta;
    case OptimizerKind::kAdamax:
      return UpdateKind::kAdamax;
    case OptimizerKind::kNadam:
      return UpdateKind::kNadam;
    case OptimizerKind::kFtrl:
      return optimizer.learning_rate_power == -0.5 ? UpdateKind::kFtrl : UpdateKind::kFtrlPower;
    case OptimizerKind::kLion:
      return UpdateKind::kLion;
  }
  return UpdateKind::kSgd;
}

float LimitOf(const std::optional<double>& limit) {
  return limit && *limit > 0.0 ? static_cast<float>(*limit) : 0.0F;
}

}  // namespace

LaneRule MakeLaneRule(const OptimizerParams& optimizer) {
  LaneRule rule;
  rule.kind = KindOf(optimizer);
  rule.slots = RuleSlots(optimizer);
  rule.use_ema = optimizer.use_ema ? 1 : 0;
  rule.sets_accumulator =
      optimizer.kind == OptimizerKind::kAdagrad || optimizer.kind == OptimizerKind::kFtrl ? 1 : 0;
  rule.accumulator = static_cast<float>(optimizer.initial_accumulator_value);
  rule.weight_decay = static_cast<float>(optimizer.weight_decay);
  rule.clipnorm = LimitOf(optimizer.clipnorm);
  rule.clipvalue = LimitOf(optimizer.clipvalue);
  rule.global_clipnorm = LimitOf(optimizer.global_clipnorm);
  return rule;
}

LaneScalars MakeLaneScalars(const OptimizerParams& optimizer, int64_t step) {
  const StepArgs args = StepScalars(optimizer, step);
  LaneScalars scalars;
  scalars.rate = args.rate;
  scalars.momentum = args.momentum;
  scalars.a = args.a;
  scalars.b = args.b;
  scalars.epsilon = args.epsilon;
  scalars.c = args.c;
  scalars.d = args.d;
  scalars.e = args.e;
  scalars.f = args.f;
  scalars.h = args.h;
  scalars.plain_rate = LearningRate(optimizer, step);
  scalars.ema_keep = step == 0 ? 0.0F : static_cast<float>(optimizer.ema_momentum);
  const int64_t frequency = optimizer.ema_overwrite_frequency;
  scalars.ema_overwrite = frequency > 0 && (step + 1) % frequency == 0 ? 1 : 0;
  scalars.first = step == 0 ? 1 : 0;
  return scalars;
}

std::vector<LaneSpan> MakeLaneSpans(const std::vector<TrainableSpan>& spans) {
  std::vector<LaneSpan> result;
  for (const TrainableSpan& span : spans) {
    result.push_back({span.offset, span.slot_offset, span.size, static_cast<float>(span.l1),
                      static_cast<float>(2.0 * span.l2)});
  }
  return result;
}

void UpdateLanes(const LaneUpdate& update) {
  for (int lane = 0; lane < update.lanes; ++lane) {
    const LaneRule& rule = update.rules[lane];
    const LaneScalars& scalars = update.table[*update.row * update.lanes + lane];
    float* params = update.params + lane * update.flat_size;
    const float* gradients = update.gradients + lane * update.flat_size;
    float* slots = update.slots + lane * update.n_slots * update.slot_size;
    std::vector<double> squares(static_cast<size_t>(update.n_spans), 0.0);
    double all = 0.0;
    for (int s = 0; update.clips != 0 && s < update.n_spans; ++s) {
      const LaneSpan& span = update.spans[s];
      double& sum = squares[static_cast<size_t>(s)];
      for (int64_t i = 0; i < span.size; ++i) {
        const auto g = static_cast<double>(
            RegularizedGradient(span, params[span.offset + i], gradients[span.offset + i]));
        sum += g * g;
      }
      all += sum;
    }
    for (int s = 0; s < update.n_spans; ++s) {
      const LaneSpan& span = update.spans[s];
      const LaneClip clip = MakeLaneClip(rule, squares[static_cast<size_t>(s)], all);
      for (int64_t i = 0; i < span.size; ++i) {
        float* w = params + span.offset + i;
        const float g =
            ClippedGradient(rule, clip, RegularizedGradient(span, *w, gradients[span.offset + i]));
        UpdateElement(rule, scalars, g, w, slots + span.slot_offset + i, update.slot_size);
        if (update.shadow != nullptr) {
          update.shadow[lane * update.flat_size + span.offset + i] = RoundToBfloat16(*w);
        }
      }
    }
  }
}

}  // namespace hopper
