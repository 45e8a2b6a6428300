// What a search looks for, as its user writes it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "params/ranking.h"
#include "search/journal.h"

namespace hopper {

// What a name stands for: "loss", "overfit_gap" and "parameters" in their order, which results hold
// whatever the metrics are, or else a metric as results show it.
enum class Measure { kMetric, kLoss, kGap, kParameters };
Measure MeasureOf(const std::string& name);

// Metrics by their names, which users may have given them.
using KnownMetrics = std::map<std::string, Direction>;
// All that any of these configurations computes.
KnownMetrics MetricsOf(const std::vector<RankedConfig>& configs);

// "accuracy", or several with weights: "accuracy, 0.1 * loss". What is wrong is appended.
std::vector<SearchObjective> ParseObjectives(const std::string& text, const KnownMetrics& known,
                                             std::vector<Problem>* problems);

// What the weights of an iteration are judged by, as "monitor" of fit_params names it: the first
// objective that is a metric or the loss, else the loss, "val_" before it where there are
// validation data.
std::string MonitorOf(const std::vector<SearchObjective>& objectives, bool validation);

// "overfit_gap <= 0.05, loss <= 1"; "" has none.
std::vector<SearchConstraint> ParseConstraints(const std::string& text, const KnownMetrics& known,
                                               std::vector<Problem>* problems);

// The names that are not among the metrics of some configuration are appended, each once.
void RequireMetrics(const std::vector<std::string>& names, const std::vector<RankedConfig>& configs,
                    std::vector<Problem>* problems);

// Objectives that are a loss which is another one in some configuration are appended.
void RequireOneLoss(const std::vector<SearchObjective>& objectives,
                    const std::vector<RankedConfig>& configs, std::vector<Problem>* problems);

}  // namespace hopper
