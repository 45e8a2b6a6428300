// What a search looks for, as its user writes it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "params/ranking.h"
#include "search/journal.h"

namespace hopper {

// "accuracy", or several with weights: "accuracy, 0.1 * loss". Names are metrics as results show
// them, "loss", "overfit_gap" (by how much the first objective is better on the training data than
// on the validation data) and "parameters" (the model's weights). What is wrong is appended.
std::vector<SearchObjective> ParseObjectives(const std::string& text,
                                             std::vector<Problem>* problems);

// "overfit_gap <= 0.05, loss <= 1"; "" has none.
std::vector<SearchConstraint> ParseConstraints(const std::string& text,
                                               std::vector<Problem>* problems);

// Whether a model's results hold it whatever its metrics are.
bool IsAlwaysMeasured(const std::string& name);

// The measures that are not among the metrics of some configuration are appended, each once.
void RequireMetrics(const std::vector<std::string>& measures,
                    const std::vector<RankedConfig>& configs, std::vector<Problem>* problems);

// Objectives that are a loss which is another one in some configuration are appended.
void RequireOneLoss(const std::vector<SearchObjective>& objectives,
                    const std::vector<RankedConfig>& configs, std::vector<Problem>* problems);

}  // namespace hopper
