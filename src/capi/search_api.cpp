// Searches as C functions.
#include "capi/search_api.h"

#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/rows.h"
#include "params/metric_params.h"
#include "params/text.h"
#include "search/hyperband_schedule.h"
#include "search/search.h"

struct hopper_search {
  explicit hopper_search(hopper::SearchRequest request) : search(std::move(request)) {}

  hopper::Search search;
  std::deque<hopper::SearchAssignment> waiting;  // asked for, not handed out yet
};

namespace hopper {
namespace {

std::string Text(const char* text) { return text == nullptr ? "" : text; }

// One error that names all problems.
void ThrowAll(const std::vector<Problem>& problems) {
  if (problems.empty()) return;
  if (problems.size() == 1) throw Error(problems.front());
  std::string detail;
  for (size_t i = 0; i < problems.size(); ++i) {
    detail += (i == 0 ? "" : "\n") + std::to_string(i + 1) + ". " + problems[i].message + ".";
    if (!problems[i].detail.empty()) detail += " " + problems[i].detail;
  }
  throw Error(problems.front().code,
              "the search has " + std::to_string(problems.size()) + " problems", detail,
              problems.front().hint);
}

std::shared_ptr<const SearchSpace> SpaceOf(const hopper_search_options& options,
                                           std::vector<Problem>* problems) {
  if (options.space != nullptr) {
    return std::make_shared<SearchSpace>(ParseSearchSpace(options.space, {}, problems));
  }
  return std::make_shared<SearchSpace>(
      ParseSearchGrid({options.model_ids, options.model_ids + options.n_models},
                      Text(options.compile_grid), Text(options.fit_grid)));
}

SearchRequest RequestOf(const hopper_search_options& options) {
  std::vector<Problem> problems;
  SearchRequest request;
  request.space = SpaceOf(options, &problems);
  request.algorithm = Text(options.algorithm);
  if (options.arguments != nullptr) {
    request.arguments = ParseArguments(options.arguments, "the algorithm's arguments");
  }
  SearchObjective objective;
  objective.name = Text(options.objective);
  objective.ascends = objective.name != "loss" && NamedDirection(objective.name) == Direction::kUp;
  request.objectives = {objective};
  request.seed = options.seed;
  request.seats = options.seats;
  if (options.max_configs != 0) request.max_configs = options.max_configs;
  if (options.max_iterations != 0) request.max_iterations = options.max_iterations;
  if (!std::isnan(options.target)) request.target = options.target;
  if (problems.empty()) CheckSearch(request, &problems);
  ThrowAll(problems);
  return request;
}

int Start(const hopper_search_options* options, hopper_search** search, hopper_error* error) {
  return Guard(error,
               [&] { *search = std::make_unique<hopper_search>(RequestOf(*options)).release(); });
}

int Ask(hopper_search* search, hopper_search_assignment* assignments, int32_t capacity, int32_t* n,
        hopper_error* error) {
  return Guard(error, [&] {
    for (const SearchAssignment& work : search->search.Ask()) search->waiting.push_back(work);
    *n = 0;
    while (*n < capacity && !search->waiting.empty()) {
      const SearchAssignment& work = search->waiting.front();
      assignments[(*n)++] = {work.trial, work.from, work.resource, work.parent};
      search->waiting.pop_front();
    }
  });
}

int Tell(hopper_search* search, int64_t trial, double value, const char* failure,
         hopper_error* error) {
  return Guard(error, [&] {
    SearchOutcome outcome;
    outcome.objectives = {value};
    outcome.failed = failure != nullptr || std::isnan(value);
    outcome.reason = failure != nullptr ? failure : "";
    search->search.Tell(trial, std::move(outcome));
  });
}

int Stop(hopper_search* search, const char* reason, hopper_error* error) {
  return Guard(error, [&] { search->search.Stop(Text(reason)); });
}

int32_t Done(const hopper_search* search) {
  return search->search.done() && search->waiting.empty() ? 1 : 0;
}

int64_t Best(const hopper_search* search) { return search->search.best().value_or(-1); }

std::optional<std::string> NumberOrNull(int64_t value) {
  if (value < 0) return std::nullopt;
  return std::to_string(value);
}

const char* StatusOf(const Trial& trial) {
  if (trial.failed()) return "failed";
  if (trial.stopped) return "stopped";
  return trial.running ? "running" : "done";
}

int Trials(const hopper_search* search, int64_t first, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(9);
    const SearchJournal& journal = search->search.journal();
    for (const Trial& trial : journal.trials()) {
      if (trial.id < first) continue;
      const SearchConfiguration configuration = journal.space().Configuration(trial.point);
      std::optional<std::string> value;
      int64_t iterations = 0;
      if (!trial.results.empty()) {
        const TrialResult& last = trial.results.back();
        iterations = last.resource;
        if (!trial.failed()) value = RenderReal(last.outcome.objectives.front());
      }
      table->Add({std::to_string(trial.id), std::to_string(configuration.model_id),
                  configuration.compile_params, configuration.fit_params,
                  journal.space().PointText(trial.point), std::to_string(iterations), value,
                  StatusOf(trial), NumberOrNull(trial.parent)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int Decisions(const hopper_search* search, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(10);
    int64_t number = 0;
    for (const Decision& decision : search->search.journal().decisions()) {
      std::optional<std::string> score;
      if (decision.score) score = RenderReal(*decision.score);
      table->Add({std::to_string(++number), DecisionName(decision.kind),
                  NumberOrNull(decision.trial), NumberOrNull(decision.bracket),
                  NumberOrNull(decision.rung), std::to_string(decision.resource), score,
                  NumberOrNull(decision.parent), decision.reason, RenderReal(decision.time)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

void Free(hopper_search* search) { delete search; }

int Algorithms(hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(3);
    for (const AlgorithmType& type : AlgorithmTypes()) {
      std::string arguments;
      for (const SearchArgument& argument : type.arguments) {
        arguments += (arguments.empty() ? "" : ", ") + argument.name + "=";
        if (!argument.words.empty()) {
          arguments += argument.words[static_cast<size_t>(argument.standard)];
        } else if (argument.integer) {
          arguments += std::to_string(static_cast<int64_t>(argument.standard));
        } else {
          arguments += RenderReal(argument.standard);
        }
      }
      table->Add({type.name, type.meaning, arguments});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int Schedule(int64_t r, int64_t eta, int64_t skip_last, int32_t additional, int64_t* iterations,
             hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    HyperbandOptions options;
    options.max_resource = r;
    options.eta = eta;
    options.skip_last = skip_last;
    if (additional != 0) options.resource = RungResource::kAdditional;
    std::vector<Problem> problems;
    CheckHyperband(options, &problems);
    ThrowAll(problems);
    auto table = std::make_unique<Rows>(4);
    const std::vector<Bracket> brackets = HyperbandSchedule(options);
    *iterations = CostOf(brackets).iterations;
    for (const Bracket& bracket : brackets) {
      for (size_t i = 0; i < bracket.rungs.size(); ++i) {
        const Rung& rung = bracket.rungs[i];
        table->Add({std::to_string(bracket.s), std::to_string(i), std::to_string(rung.configs),
                    std::to_string(additional != 0 ? rung.named : rung.resource)});
      }
    }
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

hopper_search_api MakeSearchApi() {
  hopper_search_api api = {};
  api.start = Start;
  api.ask = Ask;
  api.tell = Tell;
  api.stop = Stop;
  api.done = Done;
  api.best = Best;
  api.trials = Trials;
  api.decisions = Decisions;
  api.free = Free;
  api.algorithms = Algorithms;
  api.hyperband_schedule = Schedule;
  return api;
}

}  // namespace hopper
