#include "search/measures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "params/metric_params.h"
#include "params/params.h"

namespace hopper {
namespace {

// In the order of Measure, from its second on.
const std::vector<std::string> kAlways = {"loss", "overfit_gap", "parameters"};

const std::string& MeasureName(Measure measure) {
  return kAlways[static_cast<size_t>(measure) - 1];
}

std::string Trimmed(const std::string& text) {
  const char* const blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// At commas outside of parentheses, which metrics' arguments have.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = Trimmed(part);
  return parts;
}

// Has signs outside of parentheses that no name of a metric has.
bool IsExpression(const std::string& name) {
  int depth = 0;
  for (const char c : name) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && std::string("<>=;*+/").find(c) != std::string::npos) return true;
  }
  return false;
}

bool ReadNumber(const std::string& text, double* number) {
  char* end = nullptr;
  *number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(*number);
}

CompileParams ParamsOf(const RankedConfig& config) {
  std::vector<ParamProblem> ignored;
  CompileParams params = ParseCompileParams(config.compile_params, &ignored);
  if (!config.metrics.empty()) NameAsShown(config.metrics, &params);
  return params;
}

Direction DirectionOf(const std::string& name, const KnownMetrics& known) {
  const auto found = known.find(name);
  return found == known.end() ? NamedDirection(name) : found->second;
}

// Whether larger is better. Names that are no metrics are problems.
bool Ascends(const std::string& name, const KnownMetrics& known, std::vector<Problem>* problems) {
  if (MeasureOf(name) != Measure::kMetric) return false;
  try {
    return DirectionOf(name, known) == Direction::kUp;
  } catch (const Error& error) {
    problems->push_back(error.problem());
    Problem& problem = problems->back();
    std::vector<std::string> names = kAlways;
    for (const auto& [own, direction] : known) names.push_back(own);
    const std::string nearest = NearestNameHint(name, names);
    const std::string& gap = MeasureName(Measure::kGap);
    const bool starts = !name.empty() && gap.compare(0, name.size(), name) == 0;
    if (!nearest.empty()) {
      problem.hint = nearest;
    } else if (starts) {
      problem.hint = "Perhaps you meant \"" + gap + "\".";
    } else if (problem.hint.compare(0, 11, "Use one of ") == 0) {
      problem.hint.insert(11, Join(kAlways) + ", ");
    }
  }
  return false;
}

// Of what is a metric.
bool HasDirection(const std::string& name, const KnownMetrics& known) {
  return MeasureOf(name) != Measure::kMetric || DirectionOf(name, known) != Direction::kUnknown;
}

}  // namespace

Measure MeasureOf(const std::string& name) {
  const auto found = std::find(kAlways.begin(), kAlways.end(), name);
  return found == kAlways.end() ? Measure::kMetric
                                : static_cast<Measure>(found - kAlways.begin() + 1);
}

KnownMetrics MetricsOf(const std::vector<RankedConfig>& configs) {
  KnownMetrics known;
  for (const RankedConfig& config : configs) {
    for (const MetricParams& metric : ParamsOf(config).metrics) {
      known.emplace(metric.name, MetricDirection(metric));
    }
  }
  return known;
}

std::vector<SearchObjective> ParseObjectives(const std::string& text, const KnownMetrics& known,
                                             std::vector<Problem>* problems) {
  std::vector<SearchObjective> objectives;
  std::set<std::string> seen;
  for (const std::string& part : Parts(text)) {
    SearchObjective objective;
    objective.name = part;
    const size_t star = part.find('*');
    if (star != std::string::npos && ReadNumber(Trimmed(part.substr(0, star)), &objective.weight)) {
      objective.name = Trimmed(part.substr(star + 1));
    }
    if (objective.name.empty()) {
      problems->push_back({ErrorCode::kInvalidParameter,
                           "objective \"" + text + "\" has a place without a name", "",
                           "Write a metric, or several with weights: \"accuracy, 0.1 * loss\"."});
      continue;
    }
    if (IsExpression(objective.name)) {
      const bool bound = objective.name.find_first_of("<>") != std::string::npos;
      problems->push_back(
          {ErrorCode::kInvalidParameter, "objective \"" + part + "\" is not understood", "",
           bound ? "What is to be kept within a bound is said in constraints."
                 : "Write a metric, or several with weights: \"accuracy, 0.1 * loss\"."});
      continue;
    }
    if (!seen.insert(objective.name).second) {
      problems->push_back({ErrorCode::kInvalidParameter,
                           "objective \"" + objective.name + "\" comes twice", "", ""});
    }
    const size_t wrong = problems->size();
    objective.ascends = Ascends(objective.name, known, problems);
    if (problems->size() == wrong && !HasDirection(objective.name, known)) {
      problems->push_back({ErrorCode::kInvalidParameter,
                           "models cannot be compared by \"" + objective.name + "\"",
                           "Nobody can say whether more or less of it is better.",
                           "What is to be kept within a bound is said in constraints."});
    }
    objectives.push_back(std::move(objective));
  }
  return objectives;
}

std::string MonitorOf(const std::vector<SearchObjective>& objectives, bool validation) {
  const auto found =
      std::find_if(objectives.begin(), objectives.end(), [](const SearchObjective& objective) {
        const Measure measure = MeasureOf(objective.name);
        return measure == Measure::kMetric || measure == Measure::kLoss;
      });
  const std::string& name = found == objectives.end() ? MeasureName(Measure::kLoss) : found->name;
  return validation ? "val_" + name : name;
}

std::vector<SearchConstraint> ParseConstraints(const std::string& text, const KnownMetrics& known,
                                               std::vector<Problem>* problems) {
  std::vector<SearchConstraint> constraints;
  if (Trimmed(text).empty()) return constraints;
  for (const std::string& part : Parts(text)) {
    SearchConstraint constraint;
    const size_t sign = part.find_first_of("<>");
    const bool equal = sign != std::string::npos && part.compare(sign + 1, 1, "=") == 0;
    if (!equal || !ReadNumber(Trimmed(part.substr(sign + 2)), &constraint.bound)) {
      problems->push_back({ErrorCode::kInvalidParameter,
                           "constraint \"" + part + "\" is not understood", "",
                           "Write a measure, <= or >=, and a number: \"overfit_gap <= 0.05\"."});
      continue;
    }
    constraint.name = Trimmed(part.substr(0, sign));
    constraint.at_least = part[sign] == '>';
    (void)Ascends(constraint.name, known, problems);
    constraints.push_back(std::move(constraint));
  }
  return constraints;
}

void RequireMetrics(const std::vector<std::string>& names, const std::vector<RankedConfig>& configs,
                    std::vector<Problem>* problems) {
  const KnownMetrics known_metrics = MetricsOf(configs);
  std::set<std::string> missed;
  for (const RankedConfig& config : configs) {
    const CompileParams params = ParamsOf(config);
    std::string known = MeasureName(Measure::kLoss);
    for (const MetricParams& metric : params.metrics) known += ", " + metric.name;
    for (const std::string& name : names) {
      if (MeasureOf(name) != Measure::kMetric || missed.count(name) > 0) continue;
      const bool found = std::any_of(params.metrics.begin(), params.metrics.end(),
                                     [&](const MetricParams& m) { return m.name == name; });
      if (found) continue;
      missed.insert(name);
      const std::string other = SameMetric(params.metrics, name);
      // What is no metric at all has been said.
      std::vector<Problem> unknown;
      (void)Ascends(name, known_metrics, &unknown);
      if (!unknown.empty()) continue;
      problems->push_back(
          {ErrorCode::kInvalidParameter, "metric \"" + name + "\" is not among the metrics",
           "With compile_params \"" + config.compile_params + "\" there are " + known + ".",
           other.empty() ? "Add it to \"metrics\" of the compile parameters."
                         : "Perhaps you meant \"" + other + "\"."});
    }
  }
}

void RequireOneLoss(const std::vector<SearchObjective>& objectives,
                    const std::vector<RankedConfig>& configs, std::vector<Problem>* problems) {
  std::vector<RankedConfig> readable;  // of the others is said what is wrong with them
  for (const RankedConfig& config : configs) {
    std::vector<ParamProblem> found;
    (void)ParseCompileParams(config.compile_params, &found);
    const bool fine = std::all_of(found.begin(), found.end(),
                                  [](const ParamProblem& problem) { return problem.warning; });
    if (fine) readable.push_back(config);
  }
  for (const SearchObjective& objective : objectives) {
    if (auto problem = DifferentLosses(readable, objective.name)) {
      problems->push_back(std::move(*problem));
    }
  }
}

}  // namespace hopper
