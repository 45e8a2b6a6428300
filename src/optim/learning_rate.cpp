#include "optim/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace hopper {
namespace {

float ToFloat(double value) { return static_cast<float>(value); }

// Parts of the schedule that have passed: whole ones where `staircase` is set.
float Progress(const ScheduleParams& schedule, float step) {
  const float p = step / ToFloat(schedule.decay_steps);
  return schedule.staircase ? std::floor(p) : p;
}

float CosineDecay(const ScheduleParams& schedule, float initial, float step) {
  const float decay_steps = ToFloat(schedule.decay_steps);
  const auto decayed = [&](float at, float from) {
    const float cosine = 0.5F * (1.0F + std::cos(ToFloat(M_PI) * (at / decay_steps)));
    return from * (ToFloat(1.0 - schedule.alpha) * cosine + ToFloat(schedule.alpha));
  };
  if (!schedule.warmup_target) return decayed(std::min(step, decay_steps), initial);
  const float target = ToFloat(*schedule.warmup_target);
  const float warmup_steps = ToFloat(schedule.warmup_steps);
  const float at = std::min(step, decay_steps + warmup_steps);
  if (at < warmup_steps) return (target - initial) * (at / warmup_steps) + initial;
  return decayed(at - warmup_steps, target);
}

float PiecewiseConstantDecay(const ScheduleParams& schedule, int64_t step) {
  const auto& boundaries = schedule.boundaries;
  const auto at = std::lower_bound(boundaries.begin(), boundaries.end(), static_cast<double>(step));
  return ToFloat(schedule.values[static_cast<size_t>(at - boundaries.begin())]);
}

float PolynomialDecay(const ScheduleParams& schedule, float initial, float step) {
  float decay_steps = ToFloat(schedule.decay_steps);
  if (schedule.cycle) {
    if (step != 0.0F) decay_steps *= std::ceil(step / decay_steps);
  } else {
    step = std::min(step, decay_steps);
  }
  const float end = ToFloat(schedule.end_learning_rate);
  return (initial - end) * std::pow(1.0F - step / decay_steps, ToFloat(schedule.power)) + end;
}

// The share of the schedule that is done, in float64: where its cosine ends, float32 would not.
double ShareDone(const ScheduleParams& schedule, int64_t step) {
  return std::min(static_cast<double>(step) / schedule.decay_steps, 1.0);
}

// 0.5 (1 - cos(2 pi log2(1 + (2^cycles - 1) t)))
double CosineLog(const ScheduleParams& schedule, double t) {
  const double turns = std::log2(1.0 + (std::pow(2.0, schedule.cycles) - 1.0) * t);
  return 0.5 * (1.0 - std::cos(2.0 * M_PI * turns));
}

double FlatCosine(const ScheduleParams& schedule, double t) {
  if (t < schedule.flat) return 1.0;
  return 0.5 * (1.0 + std::cos(M_PI * (t - schedule.flat) / (1.0 - schedule.flat)));
}

}  // namespace

void CountSteps(int64_t steps_of_iteration, ScheduleParams* schedule) {
  if (schedule->decay_iterations <= 0.0) return;
  schedule->decay_steps = schedule->decay_iterations * static_cast<double>(steps_of_iteration);
}

float LearningRate(const OptimizerParams& optimizer, int64_t step) {
  if (optimizer.decay == 0.0) {
    return ScheduledValue(optimizer.schedule, optimizer.learning_rate, step);
  }
  return ToFloat(optimizer.learning_rate) /
         (1.0F + ToFloat(optimizer.decay) * static_cast<float>(step));
}

float WeightDecay(const OptimizerParams& optimizer, int64_t step) {
  return ScheduledValue(optimizer.weight_decay_schedule, optimizer.weight_decay, step);
}

float ScheduledValue(const ScheduleParams& schedule, double first, int64_t step) {
  const float initial = ToFloat(first);
  const float at = static_cast<float>(step);
  switch (schedule.kind) {
    case ScheduleKind::kConstant:
      break;
    case ScheduleKind::kExponentialDecay:
      return initial * std::pow(ToFloat(schedule.decay_rate), Progress(schedule, at));
    case ScheduleKind::kCosineDecay:
      return CosineDecay(schedule, initial, at);
    case ScheduleKind::kPiecewiseConstantDecay:
      return PiecewiseConstantDecay(schedule, step);
    case ScheduleKind::kInverseTimeDecay:
      return initial / (1.0F + ToFloat(schedule.decay_rate) * Progress(schedule, at));
    case ScheduleKind::kPolynomialDecay:
      return PolynomialDecay(schedule, initial, at);
    case ScheduleKind::kCosineLog:
      return ToFloat(first * CosineLog(schedule, ShareDone(schedule, step)));
    case ScheduleKind::kFlatCosine:
      return ToFloat(first * FlatCosine(schedule, ShareDone(schedule, step)));
  }
  return initial;
}

}  // namespace hopper
