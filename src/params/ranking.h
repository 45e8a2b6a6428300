// What the models of a run are compared by: never one metric against another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "params/metric_type.h"

namespace hopper {

// How one configuration is compared.
struct Ranked {
  int metric = -1;  // its place in CompileParams::metrics; -1: the loss
  Direction direction = Direction::kDown;
  int group = 0;     // only configurations of one group can be compared
  std::string name;  // of the metric, as the group's first configuration has it; "loss"
  // It is compared by its loss, although it computes metrics: others compute other ones.
  bool instead = false;
};

// What is compared.
struct RankedConfig {
  std::string compile_params;
  // Its metrics as its results show them, where the text does not name all outputs; may be empty.
  std::vector<std::string> metrics;
};

// One entry for each configuration; they are those of one run.
//
// With `rank_by`, the text or name of a metric or "loss": by that. Throws Error (22023) where it is
// no metric, has no direction, or is not the same for all; if `lenient`, it is left out then.
//
// Else by the first metric of the first configuration that all compute and that has a direction,
// losses of outputs left out, which nobody has named; else by the loss, if all have the same; else
// there are groups, of equal first metrics or losses. Under other loss_weights the sum of the same
// losses is another loss.
std::vector<Ranked> RankConfigs(const std::vector<RankedConfig>& configs,
                                const std::string& rank_by, bool lenient);

// What a model delivers, by split: on the training data and on the validation data.
struct Measured {
  std::optional<double> metric[2];  // what it is compared by
  std::optional<double> loss[2];
};

// The place of the best of them, of which there is at least one. By the metric on the validation
// data where any of them has been validated, else on the training data; then by the loss there;
// then models that were not validated by their metric on the training data; then as they come. NaN
// comes after all numbers, and what is not known after NaN, as a database sorts them.
size_t BestOf(const std::vector<Measured>& models, Direction direction);

// Which of the metrics the user's text means under another name, "acc" for "accuracy", or without
// its output: as results show it, or nothing.
std::string SameMetric(const std::vector<MetricParams>& metrics, const std::string& wanted);

// What is wrong with comparing all by `measure`, if that is "loss" or the loss of an output:
// configurations have different ones. The hint says what a search can compare them by.
std::optional<Problem> DifferentLosses(const std::vector<RankedConfig>& configs,
                                       const std::string& measure);

}  // namespace hopper
