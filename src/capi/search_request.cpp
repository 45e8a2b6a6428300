#include "capi/search_request.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/cancel.h"
#include "base/field_text.h"
#include "capi/arguments.h"
#include "capi/checked_data.h"
#include "capi/search_cost.h"
#include "capi/structs.h"
#include "model/check/check.h"
#include "model/metric_names.h"
#include "params/text.h"
#include "search/choices.h"
#include "search/measures.h"

namespace hopper {
namespace {

// Runs `body`; what it throws becomes a problem.
template <typename Body>
void Collect(std::vector<Problem>* problems, Body body) {
  try {
    body();
  } catch (const Error& error) {
    problems->push_back(error.problem());
  }
}

std::optional<int64_t> Budget(int64_t value) {
  if (value == HOPPER_NO_BUDGET) return std::nullopt;
  return value;
}

void CheckBudgets(const hopper_search_options& options, std::vector<Problem>* problems) {
  const std::string hint = "Leave it out to have no such end.";
  const auto at_least_one = [&](const char* name, int64_t value) {
    if (value >= 1) return;
    problems->push_back({ErrorCode::kInvalidParameter,
                         std::string(name) + " must be at least 1, got " + std::to_string(value),
                         "", hint});
  };
  at_least_one("max_configs", options.max_configs);
  at_least_one("max_iterations", options.max_iterations);
  at_least_one("keep", options.keep);
  if (!std::isnan(options.max_seconds) && !(options.max_seconds > 0)) {
    problems->push_back({ErrorCode::kInvalidParameter,
                         "max_seconds must be above zero, got " + RenderReal(options.max_seconds),
                         "", hint});
  }
}

// "" where it is not known.
std::string ArchitectureOf(const hopper_search_options& options, const SearchSpace& space,
                           const SearchPoint& point, int32_t model_id) {
  std::string architecture = space.Architecture(point, model_id);
  for (int32_t i = 0;
       options.model_archs != nullptr && architecture.empty() && i < options.n_models; ++i) {
    if (options.model_ids[i] == model_id) architecture = Text(options.model_archs[i]);
  }
  return architecture;
}

// Configurations that stand for all.
std::vector<RankedConfig> ProbesOf(const hopper_search_options& options, const SearchSpace& space) {
  std::vector<RankedConfig> configs;
  const auto data = FromC(options.data);
  MetricNamesByOutput names(PointerTo(data));
  for (const SearchPoint& point : ProbePoints(space)) {
    const SearchConfiguration one = space.Configuration(point);
    const std::string architecture = ArchitectureOf(options, space, point, one.model_id);
    RankedConfig config{one.compile_params, {}};
    if (!architecture.empty()) config.metrics = names.Of(one.compile_params, architecture);
    configs.push_back(std::move(config));
  }
  return configs;
}

// Objectives and constraints are metrics of the configurations.
void CheckMeasures(const std::vector<RankedConfig>& configs, const SearchRequest& request,
                   std::vector<Problem>* problems) {
  std::vector<std::string> measures;
  for (const SearchObjective& objective : request.objectives) measures.push_back(objective.name);
  for (const SearchConstraint& constraint : request.constraints) {
    measures.push_back(constraint.name);
  }
  RequireMetrics(measures, configs, problems);
  RequireOneLoss(request.objectives, configs, problems);
}

// Everything that training would say of a configuration before it begins.
std::vector<Problem> CheckPoint(const hopper_search_options& options, const DataDesc& data,
                                const SearchSpace& space, const SearchPoint& point) {
  const SearchConfiguration one = space.Configuration(point);
  const std::string architecture = ArchitectureOf(options, space, point, one.model_id);
  ConfigSource config;
  config.mst_key = 1;
  config.model_arch = architecture;
  config.compile_params = one.compile_params;
  config.fit_params = one.fit_params;
  std::vector<Problem> problems;
  for (const ConfigProblem& found : CheckConfigs({config}, &data)) {
    if (!found.problem.warning) problems.push_back(found.problem);
  }
  return problems;
}

SearchRequest::Earlier EarlierOf(const hopper_search_earlier& given, SearchPoint point,
                                 const SearchRequest& request) {
  SearchRequest::Earlier earlier;
  earlier.point = std::move(point);
  earlier.resource = given.iterations;
  earlier.outcome.failed = given.values == nullptr;
  if (!earlier.outcome.failed) {
    const double* after = given.values + request.objectives.size();
    earlier.outcome.objectives.assign(given.values, after);
    earlier.outcome.constraints.assign(after, after + request.constraints.size());
  }
  return earlier;
}

// What may be chosen; nullptr where that is not understood. `checks`: words that no configuration
// can be trained with are problems.
std::shared_ptr<const SearchSpace> ReadSpace(const hopper_search_options& options, bool checks,
                                             std::vector<Problem>* problems) {
  const size_t before = problems->size();
  std::shared_ptr<const SearchSpace> space;
  // That nothing was given to choose from is one of the caller's problems.
  if (options.space == nullptr && options.compile_grid == nullptr && before > 0) return space;
  std::optional<DataDesc> data;
  Collect(problems, [&] { data = CheckedFromC(options.data); });
  PointCheck check;
  if (checks && data.has_value() && options.model_archs != nullptr) {
    check = [&](const SearchSpace& s, const SearchPoint& p) {
      return CheckPoint(options, *data, s, p);
    };
  }
  for (int32_t i = 0; check && i < options.n_models; ++i) {
    // One that is not known is nothing to try texts with.
    if (Text(options.model_archs[i]).empty()) check = ReadTexts;
  }
  Collect(problems, [&] {
    if (options.space == nullptr) {
      space = std::make_shared<SearchSpace>(
          ParseSearchGrid({options.model_ids, options.model_ids + options.n_models},
                          Text(options.compile_grid), Text(options.fit_grid), problems));
      if (check && problems->size() == before) CheckTexts(*space, "grid at \"", check, problems);
      return;
    }
    std::map<int32_t, std::string> architectures;
    for (int32_t i = 0; i < options.n_models; ++i) {
      const char* json = options.model_archs == nullptr ? nullptr : options.model_archs[i];
      architectures[options.model_ids[i]] = Text(json);
    }
    space = std::make_shared<SearchSpace>(
        ParseSearchSpace(options.space, architectures, problems, check));
  });
  return problems->size() > before ? nullptr : space;
}

// What rows of a table have wrong, each problem once with the rows that have it; values that cannot
// be, of one parameter, are one problem.
class RowProblems {
 public:
  explicit RowProblems(const char* table) : table_(Text(table)) {}

  void Add(const std::string& row, const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
      const std::string key = problem.message.substr(0, problem.message.find(kCannotBe));
      const auto [at, is_new] = places_.try_emplace(key, found_.size());
      if (is_new) found_.push_back({problem, {}, 0, ""});
      Found& found = found_[at->second];
      ++found.count;
      if (problem.message != found.problem.message) found.others = ", for example";
      if (found.rows.size() < kMostRows) found.rows.push_back(row);
    }
  }

  // `row`: what a row is called, in the singular.
  void Tell(const std::string& row, std::vector<Problem>* problems) {
    for (Found& found : found_) {
      Problem& problem = found.problem;
      std::string rows = row + (found.count > 1 ? "s " : " ");
      for (size_t i = 0; i < found.rows.size(); ++i) rows += (i > 0 ? ", " : "") + found.rows[i];
      const size_t more = found.count - found.rows.size();
      if (more > 0) rows += " and " + std::to_string(more) + " more";
      problem.message = "\"" + table_ + "\", " + rows + ": " + problem.message + found.others;
      problems->push_back(std::move(problem));
    }
  }

 private:
  static constexpr size_t kMostRows = 3;
  static constexpr const char* kCannotBe = " cannot be ";
  struct Found {
    Problem problem;
    std::vector<std::string> rows;
    size_t count = 0;
    std::string others;  // where rows have other values
  };
  std::string table_;
  std::vector<Found> found_;
  std::map<std::string, size_t> places_;  // by message
};

void ReadFirst(const hopper_search_options& options, SearchRequest* request,
               std::vector<Problem>* problems) {
  constexpr size_t kShown = 100;  // bytes of a row without a key
  RowProblems found(options.first_table);
  const bool keys = options.first_keys != nullptr;
  for (int32_t i = 0; i < options.n_first; ++i) {
    LookAtCancel();
    std::vector<Problem> wrong;
    request->first.push_back(request->space->ParsePoint(options.first[i], &wrong));
    if (wrong.empty()) continue;
    const std::string row = keys ? std::to_string(options.first_keys[i])
                                 : std::string(CutText(options.first[i], kShown));
    found.Add(row, wrong);
  }
  found.Tell(keys ? "configuration" : "row", problems);
}

void ReadEarlier(const hopper_search_options& options, SearchRequest* request,
                 std::vector<Problem>* problems) {
  RowProblems found(options.earlier_table);
  for (int32_t i = 0; i < options.n_earlier; ++i) {
    LookAtCancel();
    const hopper_search_earlier& given = options.earlier[i];
    std::vector<Problem> wrong;
    SearchPoint point = request->space->ParsePoint(given.parameters, &wrong);
    if (wrong.empty()) {
      request->history.push_back(EarlierOf(given, std::move(point), *request));
    } else {
      found.Add(std::to_string(given.mst_key), wrong);
    }
  }
  found.Tell("configuration", problems);
}

}  // namespace

std::vector<Problem> ProblemsOf(const hopper_search_options& options) {
  std::vector<Problem> problems;
  for (int32_t i = 0; i < options.n_problems; ++i) {
    const hopper_error& one = options.problems[i];
    problems.push_back({static_cast<ErrorCode>(one.code), one.message, one.detail, one.hint});
  }
  return problems;
}

void ThrowSearchProblems(const std::vector<Problem>& problems) {
  if (problems.empty()) return;
  if (problems.size() == 1) throw Error(problems.front());
  std::string detail;
  for (size_t i = 0; i < problems.size(); ++i) {
    detail += (i == 0 ? "" : "\n") + std::to_string(i + 1) + ". " + problems[i].message + ".";
    if (!problems[i].detail.empty()) detail += " " + problems[i].detail;
    // The error has the first one's hint.
    if (!problems[i].hint.empty() && problems[i].hint != problems.front().hint) {
      detail += " " + problems[i].hint;
    }
  }
  throw Error(problems.front().code,
              "the search has " + std::to_string(problems.size()) + " problems", detail,
              problems.front().hint);
}

KnownMetrics KnownMetricsOf(const hopper_search_options& options) {
  std::vector<Problem> ignored;
  KnownMetrics known;
  const auto space = ReadSpace(options, /*checks=*/false, &ignored);
  if (space) Collect(&ignored, [&] { known = MetricsOf(ProbesOf(options, *space)); });
  return known;
}

std::shared_ptr<const SearchSpace> SearchSpaceOf(const hopper_search_options& options,
                                                 std::vector<Problem>* problems) {
  return ReadSpace(options, /*checks=*/true, problems);
}

SearchRequest SearchRequestOf(const hopper_search_options& options) {
  std::vector<Problem> problems = ProblemsOf(options);
  SearchRequest request;
  request.space = SearchSpaceOf(options, &problems);
  request.algorithm = Text(options.algorithm);
  Collect(&problems, [&] {
    if (options.arguments == nullptr) return;
    request.arguments = ParseArguments(options.arguments, "the algorithm's arguments");
  });
  std::vector<RankedConfig> probes;
  if (request.space) Collect(&problems, [&] { probes = ProbesOf(options, *request.space); });
  const KnownMetrics known = MetricsOf(probes);
  request.objectives = ParseObjectives(Text(options.objective), known, &problems);
  request.constraints = ParseConstraints(Text(options.constraints), known, &problems);
  request.seed = options.seed;
  request.seats = options.seats;
  CheckBudgets(options, &problems);
  if (!std::isnan(options.target)) request.target = options.target;
  CheckSearch(request, &problems);
  // Budgets were checked, under their users' names.
  request.max_configs = Budget(options.max_configs);
  request.max_iterations = Budget(options.max_iterations);
  if (request.space && !request.objectives.empty()) {
    auto keeping = std::make_shared<SearchSpace>(*request.space);
    keeping->KeepBestBy(MonitorOf(request.objectives, options.has_validation != 0));
    request.space = std::move(keeping);
  }
  if (request.space) {
    Collect(&problems, [&] { request.cost = SearchCostOf(options, request.space); });
    Collect(&problems, [&] { CheckMeasures(probes, request, &problems); });
    ReadFirst(options, &request, &problems);
    ReadEarlier(options, &request, &problems);
  }
  ThrowSearchProblems(problems);
  return request;
}

}  // namespace hopper
