// How long workers wait for a search, counted: visits take virtual time, and nothing else does.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "params/text.h"
#include "schedule/ready.h"
#include "search/search.h"
#include "search/space.h"

namespace hopper {
namespace {

constexpr int kWorkers = 2;
constexpr int kPartitions = 4;

// Trials whose visits take 1, or `most` with one of the two architectures.
struct Case {
  std::string algorithm;
  double most = 1.0;
  double latency = 0.0;  // from the end of a trial's stint until its result is told
  bool rounds = false;   // what is asked for at a time is trained to the end, as on segments
  bool known = true;     // the search's virtual time counts visits as they are; else all alike
};

double VisitOf(const Case& one, const SearchPoint& point) { return point[0] == 0 ? 1.0 : one.most; }

Search MakeSearch(const Case& one) {
  const std::string& algorithm = one.algorithm;
  SearchRequest request;
  request.space = std::make_shared<SearchSpace>(
      ParseSearchGrid({1, 2},
                      "{'optimizer_params_list': [{'optimizer': ['Adam', 'SGD'], "
                      "'lr': [0.0003, 0.3, 'log']}]}",
                      "{'batch_size': [32, 64]}"));
  request.algorithm = algorithm;
  if (algorithm == "hyperband" || algorithm == "bohb") {
    request.arguments = ParseArguments("R=27, eta=3", "arguments");
  }
  if (algorithm == "asha") request.arguments = ParseArguments("num_configs=64", "arguments");
  request.objectives = {{"loss", false, 1}};
  request.seed = 7;
  if (one.known) request.cost = [one](const SearchPoint& point) { return VisitOf(one, point); };
  return Search(std::move(request));
}

// The share of the workers' time in which they had nothing to do. The engine says who is next.
double IdleShare(const Case& one) {
  struct Trial {
    int64_t visits = 0;
    int64_t resource = 0;
  };
  struct End {
    double time;
    bool told;  // or a visit
    size_t trial;
    bool operator<(const End& other) const { return time > other.time; }
  };
  Search search = MakeSearch(one);
  ReadyModels ready({});
  std::vector<Trial> trials;
  std::priority_queue<End> ends;
  std::vector<std::pair<int64_t, SearchOutcome>> held;  // of a round
  int running = 0;
  int free = kWorkers;
  double now = 0.0;
  double busy = 0.0;
  const auto cost = [&](size_t trial) {
    return VisitOf(one, search.journal().trial(static_cast<int64_t>(trial)).point);
  };
  const auto offer = [&](size_t trial) {
    ready.Set(trial, static_cast<double>(trials[trial].visits) * cost(trial));
  };
  const auto ask = [&] {
    for (const SearchAssignment& work : search.Ask()) {
      const auto trial = static_cast<size_t>(work.trial);
      for (; trials.size() <= trial; trials.emplace_back()) ready.Add(1);
      trials[trial] = {(work.resource - work.from) * kPartitions, work.resource};
      ++running;
      offer(trial);
    }
  };
  ask();
  for (;;) {
    for (; free > 0; --free) {
      const int64_t next = ready.Best(std::numeric_limits<int64_t>::max());
      if (next < 0) break;
      const auto trial = static_cast<size_t>(next);
      ready.Remove(trial);
      busy += cost(trial);
      ends.push({now + cost(trial), false, trial});
    }
    if (ends.empty()) break;
    const End end = ends.top();
    ends.pop();
    now = end.time;
    if (!end.told) {
      ++free;
      if (--trials[end.trial].visits > 0) {
        offer(end.trial);
      } else {
        ends.push({now + one.latency, true, end.trial});
      }
      continue;
    }
    SearchOutcome outcome;
    const auto place = static_cast<double>(end.trial * 37 % 101);
    outcome.objectives = {place / 101.0 + 1.0 / static_cast<double>(trials[end.trial].resource)};
    held.emplace_back(static_cast<int64_t>(end.trial), std::move(outcome));
    if (--running > 0 && one.rounds) continue;
    for (auto& [trial, what] : held) search.Tell(trial, std::move(what));
    held.clear();
    ask();
  }
  EXPECT_TRUE(search.done());
  return 1.0 - busy / (kWorkers * now);
}

TEST(IdleShare, IsBelowATenthWhereTrialsEnterAndLeave) {
  for (const char* algorithm : {"hyperband", "bohb", "asha", "median", "random", "tpe"}) {
    for (const double most : {1.0, 1.5, 8.0}) {
      for (const double latency : {0.0, 0.5}) {
        for (const bool known : {true, false}) {
          EXPECT_LT(IdleShare({algorithm, most, latency, false, known}), 0.1)
              << algorithm << ", visits of 1 and " << most << ", told after " << latency
              << (known ? "" : ", which the search does not know");
        }
      }
    }
  }
}

TEST(IdleShare, IsLargerInRounds) {
  for (const double most : {1.0, 1.5, 8.0}) {
    EXPECT_LT(IdleShare({"hyperband", most, 0.5}), IdleShare({"hyperband", most, 0.5, true}));
  }
}

}  // namespace
}  // namespace hopper
