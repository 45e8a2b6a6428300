#include "train/stopping.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/hash.h"
#include "base/pieces.h"
#include "optim/optimizer_type.h"
#include "params/value.h"

namespace hopper {

namespace {

AlignedArray<float> CopyOf(const float* values, size_t n) {
  AlignedArray<float> copy(n);
  CopyInPieces(copy.data(), values, n * sizeof(float));
  return copy;
}

}  // namespace

// Keras compares tensors, which are float32; the difference before is Python's.
bool Stopping::Rule::Improves(double value, double best) const {
  const auto a = static_cast<float>(value - (ascends ? min_delta : -min_delta));
  const auto b = static_cast<float>(best);
  return ascends ? a > b : a < b;
}

std::optional<double> Stopping::Rule::Value(const Observed& observed) const {
  const Observed::Split& split = observed.splits[watched.validation ? 1 : 0];
  if (!split.known) return std::nullopt;
  if (watched.metric < 0) return split.loss;
  const auto at = static_cast<size_t>(watched.metric);
  if (at >= split.metrics.size()) return std::nullopt;
  return split.metrics[at];
}

Stopping::Rule Stopping::MakeRule(const CompileParams& compile, const std::string& monitor,
                                  MonitorMode mode, double min_delta, const std::string& data) {
  Rule rule;
  rule.monitor = monitor;
  const auto watched = FindWatched(compile, monitor);
  const Direction direction =
      watched ? WatchedDirection(compile, *watched, mode) : Direction::kUnknown;
  if (direction == Direction::kUnknown) {
    throw Error(ErrorCode::kInvalidParameter, "\"" + monitor + "\" cannot be watched");
  }
  rule.watched = *watched;
  rule.ascends = direction == Direction::kUp;
  rule.min_delta = min_delta;
  const std::string of = WatchedIdentity(compile, *watched) + '\n' + data;
  rule.text = monitor + (rule.ascends ? " max " : " min ") + RenderReal(min_delta) + " of " +
              Hash(of.data(), of.size()).Hex();
  return rule;
}

Stopping::Stopping(const CompileParams& compile, const FitParams& fit, const std::string& data)
    : configured_rate_(static_cast<float>(compile.optimizer.learning_rate)) {
  const EarlyStoppingParams& early = fit.early_stopping;
  if (early.active()) {
    stop_ = MakeRule(compile, early.monitor, early.mode, early.min_delta, data);
    patience_ = early.patience;
    restore_best_ = early.restore_best;
    baseline_ = early.baseline;
    start_from_epoch_ = early.start_from_epoch;
    stop_->text += " from " + std::to_string(start_from_epoch_);
    if (baseline_) stop_->text += " baseline " + RenderReal(*baseline_);
  }
  if (fit.plateau.active) {
    plateau_params_ = fit.plateau;
    plateau_ =
        MakeRule(compile, fit.plateau.monitor, fit.plateau.mode, fit.plateau.min_delta, data);
    // Another optimizer starts with its own rate again.
    plateau_->text += " optimizer " + std::to_string(PlaceOf(*compile.optimizer.type)) + " rate " +
                      RenderReal(compile.optimizer.learning_rate);
  }
}

bool Stopping::Watches(bool validation) const {
  return (stop_ && stop_->watched.validation == validation) ||
         (plateau_ && plateau_->watched.validation == validation);
}

void Stopping::Adopt(MonitorState* state) const {
  if (!stop_ || state->stop_rule != stop_->text) {
    state->stop_rule = stop_ ? stop_->text : "";
    state->has_best = false;
    state->best = 0.0;
    state->best_iteration = 0;
    state->wait = 0;
    state->stopped_by = -1;
    state->best_weights = {};
  }
  // More patience than it was stopped by, or none at all any more: it goes on.
  if (!patience_ || state->stopped_by != *patience_) state->stopped_by = -1;
  if (!restores()) state->best_weights = {};
  if (!plateau_ || state->plateau_rule != plateau_->text) {
    state->plateau_rule = plateau_ ? plateau_->text : "";
    state->plateau_has_best = false;
    state->plateau_best = 0.0;
    state->plateau_wait = 0;
    state->cooldown = 0;
    state->reduced = false;
    state->learning_rate = 0.0F;
  }
}

void Stopping::Decide(int64_t iteration, const Observed& observed, const float* weights, size_t n,
                      MonitorState* state) const {
  if (stop_) DecideStop(iteration, observed, weights, n, state);
  if (plateau_) DecideRate(observed, state);
}

// EarlyStopping.on_epoch_end(); Keras' epoch is iteration - 1.
void Stopping::DecideStop(int64_t iteration, const Observed& observed, const float* weights,
                          size_t n, MonitorState* state) const {
  const std::optional<double> value = stop_->Value(observed);
  if (!value || iteration - 1 < start_from_epoch_) return;
  if (restore_best_ && state->best_weights.size() == 0) {
    state->best_weights = CopyOf(weights, n);
    state->best_iteration = iteration;
  }
  ++state->wait;
  if (!state->has_best || stop_->Improves(*value, state->best)) {
    state->has_best = true;
    state->best = *value;
    state->best_iteration = iteration;
    if (restore_best_) state->best_weights = CopyOf(weights, n);
    if (!baseline_ || stop_->Improves(*value, *baseline_)) state->wait = 0;
    return;
  }
  if (patience_ && state->wait >= *patience_ && iteration > 1) state->stopped_by = *patience_;
}

// ReduceLROnPlateau.on_epoch_end().
void Stopping::DecideRate(const Observed& observed, MonitorState* state) const {
  const std::optional<double> value = plateau_->Value(observed);
  if (!value) return;
  if (state->cooldown > 0) {
    --state->cooldown;
    state->plateau_wait = 0;
  }
  if (!state->plateau_has_best || plateau_->Improves(*value, state->plateau_best)) {
    state->plateau_has_best = true;
    state->plateau_best = *value;
    state->plateau_wait = 0;
    return;
  }
  if (state->cooldown > 0) return;
  ++state->plateau_wait;
  if (state->plateau_wait < plateau_params_.patience) return;
  const double old_rate = LearningRate(*state);
  if (!(old_rate > static_cast<double>(static_cast<float>(plateau_params_.min_lr)))) return;
  const double rate = std::max(old_rate * plateau_params_.factor, plateau_params_.min_lr);
  state->learning_rate = static_cast<float>(rate);
  state->reduced = true;
  state->cooldown = plateau_params_.cooldown;
  state->plateau_wait = 0;
}

std::string Stopping::Reason(const MonitorState& state) const {
  if (!stop_) return "";
  char best[32];
  std::snprintf(best, sizeof(best), "%.4f", state.best);
  return stop_->monitor + " has not improved on " + best + " of iteration " +
         std::to_string(state.best_iteration);
}

}  // namespace hopper
