// What early stopping and ReduceLROnPlateau remember of a model from iteration to iteration.
#pragma once

#include <cstdint>
#include <string>

#include "base/aligned.h"

namespace hopper {

struct MonitorState {
  // What the counters were counted by (train/stopping.h); empty: nothing was watched yet. Counters
  // of another rule mean nothing.
  std::string stop_rule;
  bool has_best = false;
  double best = 0.0;
  int64_t best_iteration = 0;  // from 1, counted over warm starts; 0: none
  int64_t wait = 0;
  int64_t stopped_by = -1;           // the patience that ended training; -1: it goes on
  AlignedArray<float> best_weights;  // as the parameter buffer; empty: not kept

  std::string plateau_rule;
  bool plateau_has_best = false;
  double plateau_best = 0.0;
  int64_t plateau_wait = 0;
  int64_t cooldown = 0;
  bool reduced = false;  // learning_rate replaces the configuration's
  float learning_rate = 0.0F;

  bool empty() const { return stop_rule.empty() && plateau_rule.empty() && !reduced; }
  MonitorState Clone() const;
};

}  // namespace hopper
