// What early stopping and ReduceLROnPlateau watch: 'val_loss', 'accuracy' and the like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "params/metric_params.h"
#include "params/params.h"

namespace hopper {

struct Watched {
  bool validation = false;
  int metric = -1;  // index in CompileParams::metrics; -1: the loss
};

// A metric's name without its arguments, as Keras' histories have it: auc of AUC(curve='PR'), and
// auc_1 of a second one.
std::string MetricLabel(const MetricParams& metric);

// Keras' names: "val_" stands for the validation data; then "loss", or a metric as it was written
// ('acc') or in snake case (AUC() is auc). Nothing where there is no such metric.
std::optional<Watched> FindWatched(const CompileParams& compile, const std::string& monitor);

// What is watched, arguments included: equal where two configurations watch the same number.
std::string WatchedIdentity(const CompileParams& compile, const Watched& watched);

// `mode`, or what is known of the metric.
Direction WatchedDirection(const CompileParams& compile, const Watched& watched, MonitorMode mode);

// What stands in the way of watching: a metric that is not computed, a direction that nobody
// knows, no validation data (`validation`: nothing where that is not known).
void CheckMonitors(const CompileParams& compile, const FitParams& fit,
                   std::optional<bool> validation, std::vector<ParamProblem>* problems);

}  // namespace hopper
