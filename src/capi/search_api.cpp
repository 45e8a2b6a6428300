// Searches as C functions.
#include "capi/search_api.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/letters.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/rows.h"
#include "capi/search_request.h"
#include "params/json_writer.h"
#include "params/text.h"
#include "schedule/forecast_search.h"
#include "search/hyperband_schedule.h"
#include "search/importance.h"
#include "search/measures.h"
#include "search/play.h"
#include "search/search.h"
#include "search/template.h"

struct hopper_search {
  explicit hopper_search(hopper::SearchRequest request) : search(std::move(request)) {}

  hopper::Search search;
  std::deque<hopper::SearchAssignment> waiting;  // asked for, not handed out yet
  size_t seen = 0;                               // decisions that NextStopped() has looked at
  size_t seen_rungs = 0;                         // those that NextRung() has told
  hopper::PlayedTrials played;                   // what Play() has come to
};

namespace hopper {
namespace {

int Start(const hopper_search_options* options, hopper_search** search, hopper_error* error) {
  return Guard(error, [&] {
    *search = std::make_unique<hopper_search>(SearchRequestOf(*options)).release();
  });
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

int Tell(hopper_search* search, int64_t trial, const hopper_search_told* told,
         hopper_error* error) {
  return Guard(error, [&] {
    Require(told != nullptr, "told");
    SearchOutcome outcome;
    outcome.failed = told->failure != nullptr;
    outcome.reason = outcome.failed ? told->failure : "";
    if (told->iterations >= 0) outcome.iterations = told->iterations;
    if (!outcome.failed) {
      const size_t objectives = search->search.journal().objectives().size();
      const size_t given = std::min(objectives, static_cast<size_t>(told->n));
      outcome.objectives.assign(told->values, told->values + given);
      outcome.constraints.assign(told->values + given, told->values + told->n);
      if (told->last != nullptr) outcome.last.assign(told->last, told->last + told->n);
    }
    search->search.Tell(trial, std::move(outcome));
  });
}

int64_t NextStopped(hopper_search* search) {
  const SearchJournal& journal = search->search.journal();
  while (search->seen < journal.decisions().size()) {
    const Decision& decision = journal.decisions()[search->seen++];
    // Another bracket may go on with it: then its state stays.
    if (decision.kind == DecisionKind::kStopped && journal.trial(decision.trial).stopped) {
      return decision.trial;
    }
  }
  return -1;
}

int32_t NextRung(hopper_search* search, hopper_search_rung* rung) {
  const SearchJournal& journal = search->search.journal();
  if (search->seen_rungs == journal.rungs().size()) return 0;
  const RungEnd& end = journal.rungs()[search->seen_rungs++];
  *rung = {end.bracket, end.rung, end.resource, end.configs, end.failed, end.go_on, end.best, 0};
  if (end.best < 0) return 1;
  const TrialResult* result = journal.trial(end.best).ResultAt(end.resource);
  rung->value = result->outcome.objectives.front();
  return 1;
}

int Steer(hopper_search* search, int64_t trial, int32_t what, const char* reason, int32_t* changed,
          hopper_error* error) {
  return Guard(error, [&] {
    Require(reason != nullptr, "reason");
    const bool done = what == HOPPER_SEARCH_STOP_TRIAL
                          ? search->search.StopTrial(trial, reason)
                          : search->search.PinTrial(trial, what == HOPPER_SEARCH_PIN_TRIAL, reason);
    *changed = done ? 1 : 0;
  });
}

int Enqueue(hopper_search* search, const char* parameters, hopper_error* error) {
  return Guard(error, [&] {
    Require(parameters != nullptr, "parameters");
    std::vector<Problem> problems;
    SearchPoint point = search->search.journal().space().ParsePoint(parameters, &problems);
    ThrowSearchProblems(problems);
    search->search.Enqueue(std::move(point));
  });
}

int Stop(hopper_search* search, const char* reason, hopper_error* error) {
  return Guard(error, [&] { search->search.Stop(reason); });
}

int32_t Done(const hopper_search* search) {
  return search->search.done() && search->waiting.empty() ? 1 : 0;
}

int64_t Iterations(const hopper_search* search) { return search->search.iterations(); }

int32_t IsSpent(const hopper_search* search) { return search->search.journal().IsSpent() ? 1 : 0; }

int Best(const hopper_search* search, int64_t* trial, hopper_error* error) {
  return Guard(error, [&] { *trial = search->search.best().value_or(-1); });
}

std::optional<std::string> NumberOrNull(int64_t value) {
  if (value < 0) return std::nullopt;
  return std::to_string(value);
}

const char* StatusOf(const Trial& trial) {
  if (trial.earlier) return "earlier";
  if (trial.failed()) return "failed";
  if (trial.stopped || trial.over) return "stopped";
  return trial.running ? "running" : "done";
}

std::string ArrayText(const std::vector<double>& values) {
  std::string text = "{";
  for (const double value : values) text += (text.size() > 1 ? "," : "") + RenderReal(value);
  return text + "}";
}

int Trials(const hopper_search* search, int64_t first, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(15);
    const SearchJournal& journal = search->search.journal();
    std::map<int64_t, int64_t> places;
    int64_t place = 0;
    for (const int64_t trial : RankTrials(journal)) places[trial] = ++place;
    const std::vector<int64_t> front = ParetoSet(journal);
    for (const Trial& trial : journal.trials()) {
      if (trial.id < first) continue;
      const SearchConfiguration configuration = journal.space().Configuration(trial.point);
      const std::string architecture =
          journal.space().Architecture(trial.point, configuration.model_id);
      std::optional<std::string> value, filled, structure, rank, objectives, constraints;
      int64_t iterations = 0;
      if (!trial.results.empty()) {
        const TrialResult& last = trial.results.back();
        iterations = last.iterations;
        if (!trial.failed()) {
          value = RenderReal(last.outcome.objectives.front());
          objectives = ArrayText(last.outcome.objectives);
          constraints = ArrayText(last.outcome.constraints);
        }
        rank = std::to_string(places[trial.id]);
      }
      if (!architecture.empty()) {
        filled = architecture;
        structure = journal.space().StructureText(trial.point);
      }
      table->Add({std::to_string(trial.id), std::to_string(configuration.model_id),
                  configuration.compile_params, configuration.fit_params,
                  journal.space().PointText(trial.point), std::to_string(iterations), value,
                  StatusOf(trial), NumberOrNull(trial.parent), filled, structure, rank,
                  std::binary_search(front.begin(), front.end(), trial.id) ? "t" : "f", objectives,
                  constraints});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int Results(const hopper_search* search, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    struct Row {
      const Trial* trial;
      const TrialResult* result;
    };
    std::vector<Row> found;
    for (const Trial& trial : search->search.journal().trials()) {
      if (trial.earlier) continue;
      for (const TrialResult& result : trial.results) found.push_back({&trial, &result});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Row& a, const Row& b) { return a.result->time < b.result->time; });
    auto table = std::make_unique<Rows>(7);
    for (const Row& row : found) {
      std::optional<std::string> objectives, constraints, failure;
      const SearchOutcome& outcome = row.result->outcome;
      if (outcome.failed) {
        failure = outcome.reason;
      } else {
        objectives = ArrayText(outcome.objectives);
        constraints = ArrayText(outcome.constraints);
      }
      table->Add({std::to_string(row.trial->id), std::to_string(row.result->iterations), objectives,
                  constraints, row.result->standing.grade == Standing::kKept ? "t" : "f", failure,
                  RenderReal(row.result->time)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int Probes(const hopper_search* search, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(4);
    const SearchSpace& space = search->search.journal().space();
    std::set<std::vector<std::string>> seen;
    for (const SearchPoint& point : ProbePoints(space)) {
      const SearchConfiguration one = space.Configuration(point);
      const std::string architecture = space.Architecture(point, one.model_id);
      if (!seen.insert(
                   {std::to_string(one.model_id), architecture, one.compile_params, one.fit_params})
               .second) {
        continue;
      }
      std::optional<std::string> filled;
      if (!architecture.empty()) filled = architecture;
      table->Add({std::to_string(one.model_id), filled, one.compile_params, one.fit_params});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int Importance(const hopper_search* search, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::vector<ParameterImportance> shares = ParameterImportances(search->search.journal());
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.importance > b.importance; });
    std::string json;
    for (const ParameterImportance& share : shares) {
      json += (json.empty() ? "{\"parameter\": " : ", {\"parameter\": ") + JsonString(share.name) +
              ", \"importance\": " + RenderReal(share.importance) + "}";
    }
    auto table = std::make_unique<Rows>(1);
    table->Add({"[" + json + "]"});
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

void Free(void* search) { delete static_cast<hopper_search*>(search); }

hopper_measure MeasureNumber(Measure measure) {
  switch (measure) {
    case Measure::kLoss:
      return HOPPER_MEASURE_LOSS;
    case Measure::kGap:
      return HOPPER_MEASURE_GAP;
    case Measure::kParameters:
      return HOPPER_MEASURE_PARAMETERS;
    case Measure::kMetric:
      break;
  }
  return HOPPER_MEASURE_METRIC;
}

int Measures(const hopper_search_options* options, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::vector<Problem> problems;
    const KnownMetrics known = KnownMetricsOf(*options);
    auto table = std::make_unique<Rows>(4);
    const auto add = [&](const std::string& name, bool is_objective, bool ascends) {
      table->Add({name, std::to_string(MeasureNumber(MeasureOf(name))), is_objective ? "t" : "f",
                  ascends ? "t" : "f"});
    };
    for (const SearchObjective& one : ParseObjectives(Text(options->objective), known, &problems)) {
      add(one.name, /*is_objective=*/true, one.ascends);
    }
    for (const SearchConstraint& one :
         ParseConstraints(Text(options->constraints), known, &problems)) {
      add(one.name, /*is_objective=*/false, /*ascends=*/false);
    }
    ThrowSearchProblems(problems);
    *rows = Rows::Release(std::move(table));
  });
}

std::optional<std::string> RealOrNull(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return RenderReal(*value);
}

std::optional<std::string> TextOrNull(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::vector<DimensionRow> DimensionsOf(const hopper_search_options& options) {
  std::vector<Problem> problems = ProblemsOf(options);
  const auto space = SearchSpaceOf(options, &problems);
  ThrowSearchProblems(problems);
  return DescribeSpace(*space);
}

int DescribeDimensions(const hopper_search_options* options, hopper_rows** rows,
                       hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(10);
    for (const DimensionRow& row : DimensionsOf(*options)) {
      std::optional<std::string> count;
      if (row.count) count = std::to_string(*row.count);
      table->Add({row.name, row.type, TextOrNull(row.scale), RealOrNull(row.low),
                  RealOrNull(row.high), RealOrNull(row.step), TextOrNull(row.choices), count,
                  TextOrNull(row.condition), row.used_in});
    }
    *rows = Rows::Release(std::move(table));
  });
}

// "name": "text" behind what the object has so far, where there is a text.
void AddText(const char* name, const std::optional<std::string>& text, std::string* object) {
  if (!text) return;
  if (object->back() != '{') *object += ", ";
  *object += JsonString(name) + ": " + JsonString(*text);
}

std::optional<std::string> Given(const char* text) {
  if (text == nullptr) return std::nullopt;
  return text;
}

int Describe(const hopper_search_options* options, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::string json = "{";
    AddText("method", Given(options->algorithm), &json);
    AddText("arguments", Given(options->arguments), &json);
    AddText("objective", Given(options->objective), &json);
    AddText("constraints", Given(options->constraints), &json);
    json += ", \"space\": [";
    for (const DimensionRow& row : DimensionsOf(*options)) {
      json += json.back() == '[' ? "{" : ", {";
      AddText("parameter", row.name, &json);
      AddText("type", row.type, &json);
      AddText("scale", TextOrNull(row.scale), &json);
      AddText("low", RealOrNull(row.low), &json);
      AddText("high", RealOrNull(row.high), &json);
      AddText("step", RealOrNull(row.step), &json);
      if (!row.choices.empty()) json += ", \"choices\": " + row.choices;
      json += "}";
    }
    auto table = std::make_unique<Rows>(1);
    table->Add({json + "]}"});
    *rows = Rows::Release(std::move(table));
  });
}

int TemplateParameters(const char* json, size_t size, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(1);
    std::vector<Problem> problems;
    std::set<std::string> seen;
    WalkTemplate(
        ParseJson({json, size}, "model architecture"), "model architecture",
        [&](const std::string& name, const std::string& /*path*/, bool /*in_repeat*/) {
          if (seen.insert(name).second) table->Add({name});
        },
        [&](const std::string& path, const std::string& problem) {
          problems.push_back({ErrorCode::kInvalidParameter, path + ": " + problem, "", ""});
        });
    ThrowSearchProblems(problems);
    *rows = Rows::Release(std::move(table));
  });
}

int Schedule(int64_t r, int64_t eta, int64_t skip_last, int32_t additional, const char* variant,
             int64_t* iterations, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    HyperbandOptions options;
    options.max_resource = r;
    options.eta = eta;
    options.skip_last = skip_last;
    if (additional != 0) options.resource = RungResource::kAdditional;
    std::vector<Problem> problems;
    CheckHyperband(r, eta, skip_last, &problems);
    if (EqualIgnoringCase(variant, "jmlr")) {
      options.variant = HyperbandVariant::kJmlr;
    } else if (!EqualIgnoringCase(variant, "floor")) {
      problems.push_back({ErrorCode::kInvalidParameter,
                          "variant must be floor or jmlr, got \"" + std::string(variant) + "\"", "",
                          NearestNameHint(variant, {"floor", "jmlr"})});
    }
    ThrowSearchProblems(problems);
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

int Play(hopper_search* search, int64_t* trials, hopper_error* error) {
  return Guard(error, [&] {
    search->played = PlaySearch(&search->search);
    *trials = static_cast<int64_t>(search->played.trials.size());
  });
}

int ForecastOfSearch(const hopper_search* search, const hopper_trial_cost* known, int32_t n,
                     int32_t workers, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    const PlayedTrials& played = search->played;
    std::vector<TriedConfiguration> tried;
    for (int32_t i = 0; i < n; ++i) {
      const auto trial = static_cast<size_t>(known[i].trial);
      // What ended before its turn came costs nothing.
      tried.push_back(trial < played.trials.size() ? played.trials[trial] : TriedConfiguration{});
      tried.back().seconds_iteration = known[i].seconds_iteration;
      tried.back().seconds_evaluation = known[i].seconds_evaluation;
    }
    const int64_t trained =
        std::count_if(played.trials.begin(), played.trials.end(),
                      [](const TriedConfiguration& one) { return one.iterations > 0; });
    const SearchForecast found =
        ForecastSearch(tried, {trained, played.iterations, played.longest, workers});
    auto table = std::make_unique<Rows>(3);
    const auto add = [&](const char* item, double value, const char* unit) {
      table->Add({item, RenderReal(value), unit});
    };
    add("configurations", static_cast<double>(trained), "configurations");
    add("iterations", static_cast<double>(played.iterations), "iterations");
    add("longest configuration", static_cast<double>(played.longest), "iterations");
    add("seconds of an iteration", found.iteration, "seconds");
    add("training", found.training, "seconds of workers");
    add("evaluating", found.evaluating, "seconds of workers");
    add("workers", workers, "workers");
    add("seconds", found.seconds, "seconds");
    add("all to the end", found.all_to_end, "seconds");
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

hopper_search_api MakeSearchApi() {
  hopper_search_api api = {};
  api.start = Start;
  api.ask = Ask;
  api.tell = Tell;
  api.next_stopped = NextStopped;
  api.next_rung = NextRung;
  api.steer = Steer;
  api.enqueue = Enqueue;
  api.stop = Stop;
  api.done = Done;
  api.iterations = Iterations;
  api.is_spent = IsSpent;
  api.best = Best;
  api.trials = Trials;
  api.decisions = Decisions;
  api.results = Results;
  api.probes = Probes;
  api.importance = Importance;
  api.free = Free;
  api.measures = Measures;
  api.describe_space = DescribeDimensions;
  api.describe = Describe;
  api.template_parameters = TemplateParameters;
  api.hyperband_schedule = Schedule;
  api.play = Play;
  api.forecast = ForecastOfSearch;
  return api;
}

}  // namespace hopper
