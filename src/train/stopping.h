// Early stopping, ReduceLROnPlateau and best weights: what the end of an iteration decides.
//
// The rules are those of keras.callbacks.EarlyStopping and ReduceLROnPlateau, with an iteration as
// the epoch, Keras' comparisons in float32 and its learning rate in float32. An iteration without
// metrics decides nothing, as an epoch without the monitored value does not. What they count lives
// in the model's state and so goes on after hops and warm starts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "params/monitor.h"
#include "params/params.h"
#include "schedule/course.h"
#include "state/monitor_state.h"

namespace hopper {

// The values of one iteration, as they are reported.
struct Observed {
  struct Split {
    bool known = false;
    double loss = 0.0;
    std::vector<double> metrics;
  };
  std::array<Split, 2> splits;  // training, validation

  // Whether all that is watched is there.
  bool Knows(const Watching& watching) const {
    return hopper::Knows(watching, {splits[0].known, splits[1].known});
  }
};

// Immutable and thread-safe.
class Stopping {
 public:
  // `data`: names the data that are watched; what was counted on others counts no more. Throws
  // where something watches what the configuration does not compute.
  Stopping(const CompileParams& compile, const FitParams& fit, const std::string& data);

  // Whether anything waits for metrics.
  bool active() const { return stop_.has_value() || plateau_.has_value(); }
  // Whether a decision needs the values of this split (true: validation).
  bool Watches(bool validation) const;
  // Whether the best weights are kept.
  bool restores() const { return stop_.has_value() && restore_best_; }

  Watching watching() const { return {{Watches(false), Watches(true)}, restores()}; }

  // Drops what was counted by other rules than these, of another loss or metric, or on other data,
  // before a model goes on.
  void Adopt(MonitorState* state) const;
  // At the end of `iteration` (from 1, counted over warm starts), with all values that are watched.
  // `weights`: n floats that were evaluated, kept where they are the best ones.
  void Decide(int64_t iteration, const Observed& observed, const float* weights, size_t n,
              MonitorState* state) const;

  static bool Stopped(const MonitorState& state) { return state.stopped_by >= 0; }
  // Adopt() has been called: the rate to train with, instead of the configuration's if reduced.
  float LearningRate(const MonitorState& state) const {
    return state.reduced ? state.learning_rate : configured_rate_;
  }
  // "val_loss has not improved on 0.1234 of iteration 4".
  std::string Reason(const MonitorState& state) const;

 private:
  struct Rule {
    std::string monitor;
    Watched watched;
    bool ascends = false;
    double min_delta = 0.0;
    std::string text;  // for MonitorState
    // Better than `best` by more than min_delta.
    bool Improves(double value, double best) const;
    // Nothing where the value is not known.
    std::optional<double> Value(const Observed& observed) const;
  };
  static Rule MakeRule(const CompileParams& compile, const std::string& monitor, MonitorMode mode,
                       double min_delta, const std::string& data);
  void DecideStop(int64_t iteration, const Observed& observed, const float* weights, size_t n,
                  MonitorState* state) const;
  void DecideRate(const Observed& observed, MonitorState* state) const;

  std::optional<Rule> stop_;
  std::optional<Rule> plateau_;
  std::optional<int64_t> patience_;
  bool restore_best_ = false;
  std::optional<double> baseline_;
  int64_t start_from_epoch_ = 0;
  PlateauParams plateau_params_;
  float configured_rate_ = 0.0F;
};

}  // namespace hopper
