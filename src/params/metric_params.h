// The metrics of compile_params.
#pragma once

#include <string>
#include <vector>

#include "params/callable.h"
#include "params/metric_type.h"

namespace hopper {

// One metric, behind those that there are.
void ReadMetric(const Value& value, CompileParams* params, ProblemList* problems);

// Names in snake case, those of losses too. Without aliases each metric is there under as few as
// people need to read.
std::vector<std::string> MetricNames(bool with_aliases);

// Whether smaller or larger values are the better ones.
Direction MetricDirection(const MetricParams& metric);
// How it goes with the unit of labels that are numbers (MetricType::power_of_unit); a loss says it
// of itself.
int PowerOfUnit(const MetricParams& metric);
// What tells a metric from all others but for its arguments. One whose name is a loss's as well has
// aliases only, because lists have it among the losses.
std::string MetricId(const MetricParams& metric);
// What it computes, arguments included: equal where two compute the same. Not of a loss of an
// output, which params/compared_loss.h has.
std::string MetricIdentity(const MetricParams& metric);
// Whether smaller or larger values are the better ones, of a metric's text as results show it
// (MetricParams::name), or "loss". Throws kInvalidParameter for other names.
Direction NamedDirection(const std::string& text);

}  // namespace hopper
