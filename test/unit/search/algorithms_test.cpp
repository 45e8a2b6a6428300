#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "search/drive.h"
#include "search/hyperband_schedule.h"

namespace hopper {
namespace {

constexpr char kUnit[] = R"({"x": {"type": "float", "low": 0, "high": 1}})";

SearchOutcome Distance(const SearchPoint& point, int64_t resource) {
  return Loss(std::abs(point[0] - 0.3) + 1.0 / static_cast<double>(resource));
}

std::vector<std::string> ProblemsOf(const SearchRequest& request) {
  std::vector<Problem> problems;
  CheckSearch(request, &problems);
  std::vector<std::string> messages;
  for (const Problem& p : problems) {
    messages.push_back(p.message + (p.hint.empty() ? "" : " | " + p.hint));
  }
  return messages;
}

TEST(Search, RefusesEverythingWrongAtOnce) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "hyperbad", "");
  request.seats = 0;
  request.max_configs = 0;
  request.max_iterations = 0;
  request.objectives.clear();
  EXPECT_EQ(ProblemsOf(request),
            (std::vector<std::string>{
                "there is no search algorithm \"hyperbad\" | Perhaps you meant \"hyperband\".",
                "a search needs an objective", "parallel must be at least 1, got 0",
                "the budget of configurations must be above zero",
                "the budget of iterations must be above zero"}));
  EXPECT_EQ(ProblemsOf(RequestOf(SpaceOf(kUnit), "hyperband", "R=9, skiplast=1, eta=1")),
            (std::vector<std::string>{
                "algorithm \"hyperband\" has no argument \"skiplast\" | Perhaps you meant "
                "\"skip_last\".",
                "argument \"eta\" of algorithm \"hyperband\" must be from 2 to 1000000, got 1"}));
  // One argument that is wrong by itself does not hide what is wrong with others together.
  EXPECT_EQ(ProblemsOf(RequestOf(SpaceOf(kUnit), "hyperband",
                                 "R=9, eta=1, skip_last=9, proposer='grid', loops=0")),
            (std::vector<std::string>{
                "argument \"eta\" of algorithm \"hyperband\" must be from 2 to 1000000, got 1",
                "argument \"loops\" of algorithm \"hyperband\" must be from 1 to 1000, got 0",
                "skip_last must be from 0 to 3 for R = 9, got 9",
                "a grid needs finitely many values of \"x\" | Give it a step, or list its "
                "values."}));
  // Nor does a space that is not understood.
  EXPECT_EQ(ProblemsOf(RequestOf(nullptr, "asha", "R=2, r=5, proposer='grid', etta=1")),
            (std::vector<std::string>{
                "algorithm \"asha\" has no argument \"etta\" | Perhaps you meant \"eta\".",
                "r must be at most R, got r = 5 and R = 2"}));
  EXPECT_EQ(ProblemsOf(RequestOf(SpaceOf(kUnit), "hyperband", "R=2, etta=2")),
            (std::vector<std::string>{"algorithm \"hyperband\" has no argument \"etta\" | Perhaps "
                                      "you meant \"eta\"."}));
  EXPECT_EQ(ProblemsOf(RequestOf(SpaceOf(kUnit), "Hyperband", "R=9, skip_last=3, proposer='grid'")),
            (std::vector<std::string>{
                "skip_last must be from 0 to 2 for R = 9 and eta = 3, got 3",
                "a grid needs finitely many values of \"x\" | Give it a step, or list its "
                "values."}));
  EXPECT_EQ(ProblemsOf(RequestOf(SpaceOf(kUnit), "hyperband", "R=2, variant='jmrl'")),
            (std::vector<std::string>{"argument \"variant\" of algorithm \"hyperband\" must be one "
                                      "of floor, jmlr, got 'jmrl' | Perhaps you meant \"jmlr\".",
                                      "R must be at least eta, got R = 2 and eta = 3"}));
  EXPECT_EQ(ProblemsOf(RequestOf(SpaceOf(kUnit), "hyperband", "R=2")),
            (std::vector<std::string>{"R must be at least eta, got R = 2 and eta = 3"}));
  // What is missing has its default.
  EXPECT_TRUE(ProblemsOf(RequestOf(SpaceOf(kUnit), "hyperband", "R=9")).empty());
}

TEST(Search, GridTriesEveryPointOnceAndEnds) {
  Search search(RequestOf(SpaceOf(R"({"a": [1, 2, 3], "b": [1, 2]})"), "grid", ""));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0]); });
  EXPECT_EQ(search.journal().trials().size(), 6U);
  EXPECT_EQ(search.iterations(), 30);
  EXPECT_EQ(search.best(), 0);
  EXPECT_EQ(Count(search, DecisionKind::kExhausted), 1);
}

TEST(Search, ASmallSpaceEndsEarlyAndSaysSo) {
  Search search(RequestOf(SpaceOf(R"({"a": [1, 2, 3], "b": [1, 2]})"), "random", "num_configs=50"));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0]); });
  std::set<std::string> seen;
  for (const Trial& t : search.journal().trials()) {
    EXPECT_TRUE(seen.insert(search.journal().space().PointText(t.point)).second);
  }
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_EQ(Count(search, DecisionKind::kExhausted), 1);
}

// Equal decisions whatever the order in which results are told.
TEST(Search, FollowsVirtualTimeAlone) {
  for (const AlgorithmType& type : AlgorithmTypes()) {
    const std::string parameters =
        type.name == "grid" ? R"({"x": {"type": "float", "low": 0, "high": 1, "step": 0.02}})"
                            : kUnit;
    std::vector<std::string> protocols;
    for (const TellOrder order : {TellOrder::kFirst, TellOrder::kLast, TellOrder::kMiddle}) {
      SearchRequest request = RequestOf(SpaceOf(parameters), type.name, "", 5);
      // Costs differ 8:1.
      request.cost = [](const SearchPoint& point) { return 1.0 + 7.0 * point[0]; };
      request.seats = 5;
      Search search(std::move(request));
      Drive(&search, Distance, order);
      protocols.push_back(Protocol(search));
    }
    EXPECT_EQ(protocols[0], protocols[1]) << type.name;
    EXPECT_EQ(protocols[0], protocols[2]) << type.name;
    Search other(RequestOf(SpaceOf(parameters), type.name, "", 6));
    Drive(&other, Distance);
    if (type.name != "grid") {
      EXPECT_NE(Protocol(other), protocols[0]) << type.name;
    }
  }
}

TEST(Search, KeepsToItsBudgets) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "random", "num_configs=50, num_iterations=4");
  request.max_iterations = 30;
  Search iterations(request);
  Drive(&iterations, Distance);
  EXPECT_EQ(iterations.iterations(), 28);
  EXPECT_EQ(iterations.end_reason(), "the budget of 30 iterations is spent");
  // What is too small for one of them is said before anything trains.
  request.max_iterations = 3;
  EXPECT_THROW(Search{request}, Error);
  request.max_iterations = 4;
  Search one(request);
  Drive(&one, Distance);
  EXPECT_EQ(one.iterations(), 4);
  request.max_iterations.reset();
  request.max_configs = 5;
  Search configs(request);
  Drive(&configs, Distance);
  EXPECT_EQ(configs.iterations(), 20);
  request.max_configs.reset();
  request.target = 0.3;
  Search target(request);
  Drive(&target, Distance);
  EXPECT_EQ(target.end_reason(), "the target is reached");
  EXPECT_LT(target.iterations(), 200);
}

TEST(Search, FirstConfigurationsComeFirstAndHistoryIsKnown) {
  const auto space = SpaceOf(R"({"a": [1, 2, 3], "b": [1, 2]})");
  SearchRequest request = RequestOf(space, "grid", "");
  request.first = {ParsedPoint(*space, R"({"a": 3, "b": 1})")};
  request.history = {{ParsedPoint(*space, R"({"a": 1, "b": 1})"), 5, Loss(0.5)}};
  Search search(std::move(request));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0] + 1); });
  ASSERT_EQ(search.journal().trials().size(), 6U);
  EXPECT_TRUE(search.journal().trial(0).earlier);
  EXPECT_EQ(space->PointText(search.journal().trial(1).point), R"({"a": 3, "b": 1})");
  EXPECT_EQ(search.iterations(), 25);
}

TEST(Search, FailuresAreTold) {
  Search search(RequestOf(SpaceOf(kUnit), "successive_halving", "num_configs=9, R=9"));
  Drive(&search, [](const SearchPoint& point, int64_t resource) {
    if (resource == 1 && point[0] > 0.5) return Failure("out of memory");
    return Loss(resource == 3 ? NAN : point[0]);
  });
  // None is left after the second rung: the best is one that was stopped before.
  EXPECT_EQ(search.journal().trial(*search.best()).resource, 1);
  EXPECT_EQ(Count(search, DecisionKind::kCompleted), 0);
  for (const Trial& trial : search.journal().trials()) {
    if (trial.point[0] > 0.5) {
      EXPECT_EQ(trial.results.size(), 1U);
      EXPECT_EQ(trial.results[0].outcome.reason, "out of memory");
    }
  }
  EXPECT_EQ(search.journal().decisions().back().kind, DecisionKind::kEnded);
}

TEST(Search, ConstraintsAndWeights) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "random", "num_configs=60");
  request.objectives = {{"accuracy", true, 2.0}, {"loss", false, 1.0}};
  request.constraints = {{"overfit", 0.05, false}};
  Search search(std::move(request));
  Drive(&search, [](const SearchPoint& point, int64_t) {
    SearchOutcome outcome;
    outcome.objectives = {point[0], point[0] * point[0]};
    outcome.constraints = {point[0] > 0.8 ? 0.1 : 0.0};
    return outcome;
  });
  // 2 x - x^2 grows up to 1; what is above 0.8 misses the constraint.
  const double best = search.journal().trial(*search.best()).point[0];
  EXPECT_LE(best, 0.8);
  for (const Trial& trial : search.journal().trials()) {
    if (trial.point[0] <= 0.8) {
      EXPECT_LE(trial.point[0], best);
    }
  }
  // One objective grows where the other does: no point beats another.
  size_t kept = 0;
  for (const Trial& trial : search.journal().trials()) kept += trial.point[0] <= 0.8 ? 1 : 0;
  EXPECT_EQ(ParetoSet(search.journal()).size(), kept);
}

TEST(Search, OfThoseThatMissConstraintsAlikeTheObjectiveDecides) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "random", "num_configs=20");
  request.objectives = {{"loss", false, 1.0}};
  request.constraints = {{"parameters", 10, false}};
  Search search(std::move(request));
  Drive(&search, [](const SearchPoint& point, int64_t) {
    SearchOutcome outcome;
    outcome.objectives = {point[0]};
    outcome.constraints = {42};
    return outcome;
  });
  const double best = search.journal().trial(*search.best()).point[0];
  for (const Trial& trial : search.journal().trials()) EXPECT_GE(trial.point[0], best);
}

TEST(Halving, RunsTheTable) {
  for (const char* variant : {"floor", "jmlr"}) {
    for (const char* resource : {"cumulative", "additional"}) {
      const std::string arguments =
          std::string("R=27, eta=3, variant='") + variant + "', resource='" + resource + "'";
      Search search(RequestOf(SpaceOf(kUnit), "hyperband", arguments));
      Drive(&search, Distance);
      HyperbandOptions options;
      options.max_resource = 27;
      if (variant[0] == 'j') options.variant = HyperbandVariant::kJmlr;
      if (resource[0] == 'a') options.resource = RungResource::kAdditional;
      const HyperbandCost cost = CostOf(HyperbandSchedule(options));
      EXPECT_EQ(search.journal().CountOwn(), cost.configs) << arguments;
      EXPECT_EQ(search.iterations(), cost.iterations) << arguments;
    }
  }
}

TEST(Halving, KeepsTheBest) {
  Search search(RequestOf(SpaceOf(kUnit), "successive_halving", "num_configs=9, R=9"));
  Drive(&search, Distance);
  // With losses whose order does not change the survivor is the best of all.
  double best = 1;
  for (const Trial& t : search.journal().trials())
    best = std::min(best, std::abs(t.point[0] - 0.3));
  const Trial& survivor = search.journal().trial(*search.best());
  EXPECT_EQ(std::abs(survivor.point[0] - 0.3), best);
  EXPECT_EQ(survivor.resource, 9);
  EXPECT_EQ(Count(search, DecisionKind::kPromoted), 4);
  EXPECT_EQ(Count(search, DecisionKind::kStopped), 8);
}

// A space of four where the brackets want seventeen: later brackets go on with what there is.
TEST(Halving, ASmallSpaceIsReused) {
  Search search(RequestOf(SpaceOf(R"({"a": [1, 2, 3, 4]})"), "hyperband", "R=9"));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0]); });
  EXPECT_EQ(search.journal().trials().size(), 4U);
  EXPECT_GT(Count(search, DecisionKind::kReused), 0);
  EXPECT_EQ(Count(search, DecisionKind::kExhausted), 1);
  for (const Trial& trial : search.journal().trials()) {
    EXPECT_LE(trial.resource, 9);
    for (size_t i = 1; i < trial.results.size(); ++i) {
      EXPECT_LT(trial.results[i - 1].resource, trial.results[i].resource);
    }
  }
}

// What was stopped has no state: where another bracket wants it, it begins anew. What runs for one
// bracket is not stopped by another.
TEST(Halving, WhatComesBackTrainsAnew) {
  for (const int64_t seats : {1, 3, 8}) {
    SearchRequest request = RequestOf(SpaceOf(R"({"a": [1, 2, 3, 4, 5]})"), "hyperband", "R=27");
    request.seats = seats;
    Search search(std::move(request));
    std::map<int64_t, int64_t> states;
    int64_t anew = 0;
    std::vector<SearchAssignment> running;
    while (!search.done()) {
      for (const SearchAssignment& work : search.Ask()) {
        anew += work.from == 0 && !search.journal().trial(work.trial).results.empty() ? 1 : 0;
        if (work.from > 0) {
          EXPECT_EQ(states[work.trial], work.from);
        }
        running.push_back(work);
      }
      const SearchAssignment work = running.front();
      running.erase(running.begin());
      states[work.trial] = work.resource;
      search.Tell(work.trial, Loss(search.journal().trial(work.trial).point[0]));
      for (const Trial& trial : search.journal().trials()) {
        if (trial.stopped) states.erase(trial.id);
        if (trial.running) {
          EXPECT_FALSE(trial.stopped);
        }
      }
    }
    EXPECT_GT(anew, 0) << seats;
  }
}

std::vector<SearchAssignment> OneWorkerAsha(const std::string& arguments,
                                            const std::vector<double>& losses) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "asha", arguments);
  request.seats = 1;
  Search search(std::move(request));
  std::vector<SearchAssignment> asked;
  for (const double loss : losses) {
    const SearchAssignment work = search.Ask().at(0);
    asked.push_back(work);
    search.Tell(work.trial, Loss(loss));
  }
  asked.push_back(search.Ask().at(0));
  return asked;
}

TEST(Asha, PromotesTheBestOfThree) {
  const auto asked = OneWorkerAsha("R=9, eta=3, num_configs=20", {0.5, 0.4, 0.9});
  EXPECT_EQ(asked[2].trial, 2);
  EXPECT_EQ(asked[2].resource, 1);
  // The 0.4, and none before three are told.
  EXPECT_EQ(asked[3].trial, 1);
  EXPECT_EQ(asked[3].from, 1);
  EXPECT_EQ(asked[3].resource, 3);
  EXPECT_EQ(OneWorkerAsha("R=9, eta=4, num_configs=20", {0.5, 0.4, 0.9})[3].trial, 3);
}

TEST(Asha, NeverWaits) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "asha", "R=27, num_configs=60");
  request.seats = 4;
  const auto cost = [](const SearchPoint& point) { return 1.0 + 7.0 * point[0]; };
  request.cost = cost;
  Search search(std::move(request));
  std::vector<std::pair<double, SearchAssignment>> running;
  double now = 0;
  while (!search.done()) {
    for (const SearchAssignment& work : search.Ask()) {
      const double iterations = static_cast<double>(work.resource - work.from);
      running.emplace_back(now + cost(search.journal().trial(work.trial).point) * iterations, work);
    }
    if (search.journal().CountOwn() < 60) {
      EXPECT_EQ(running.size(), 4U);
    }
    const auto next =
        std::min_element(running.begin(), running.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    now = next->first;
    const SearchAssignment work = next->second;
    running.erase(next);
    search.Tell(work.trial, Distance(search.journal().trial(work.trial).point, work.resource));
  }
  EXPECT_EQ(search.journal().CountOwn(), 60);
  // Of 60, 20, 6 or a few more that were promoted too early.
  EXPECT_GE(Count(search, DecisionKind::kPromoted), 28);
  EXPECT_GE(Count(search, DecisionKind::kCompleted), 2);
}

// Six points of which the n-th has the n-th loss.
Search AshaOverSix(const std::string& arguments, const LossOf& loss) {
  SearchRequest request = RequestOf(SpaceOf(R"({"a": [1, 2, 3, 4, 5, 6]})"), "asha", arguments);
  request.seats = 1;
  Search search(std::move(request));
  Drive(&search, loss);
  return search;
}

TEST(Asha, WhereNothingIsLeftToBeginTheNextOfTheLowestRungGoOn) {
  const auto loss = [](const SearchPoint& point, int64_t) { return Loss(point[0]); };
  // As many configurations as there are: two of six go on at least, and that is all.
  const Search enough = AshaOverSix("num_configs=6, R=9", loss);
  EXPECT_EQ(Count(enough, DecisionKind::kExhausted), 0);
  EXPECT_LT(Count(enough, DecisionKind::kPromoted), 6);
  // Room for many more: in the end all of them have trained to the end.
  const Search all = AshaOverSix("num_configs=1000, R=9", loss);
  EXPECT_EQ(Count(all, DecisionKind::kExhausted), 1);
  EXPECT_EQ(all.iterations(), 6 * 9);
  EXPECT_EQ(all.end_reason(), "nothing is left to train");
  // Before, each takes the lowest rung's best, so that none is left out for a later rung.
  std::map<int64_t, int> rung_of;
  int next_ones = 0;
  for (const Decision& decision : all.journal().decisions()) {
    if (decision.kind == DecisionKind::kProposed) rung_of[decision.trial] = 0;
    if (decision.kind != DecisionKind::kPromoted) continue;
    EXPECT_EQ(++rung_of[decision.trial], decision.rung);
    if (decision.reason.find("as nothing is left to begin") == std::string::npos) continue;
    ++next_ones;
    for (const auto& [trial, rung] : rung_of) EXPECT_GE(rung, decision.rung - 1);
    for (const auto& [trial, rung] : rung_of) {
      // A trial that waits there yet is worse.
      if (rung + 1 != decision.rung) continue;
      EXPECT_GT(all.journal().trial(trial).point[0], all.journal().trial(decision.trial).point[0]);
    }
  }
  EXPECT_GT(next_ones, 4);
  // No more is trained than so many configurations take: twelve, four of them to 3, one to 9.
  const Search some = AshaOverSix("num_configs=12, R=9", loss);
  EXPECT_LE(some.iterations(), 12 + 4 * 2 + 6);
  EXPECT_GT(some.iterations(), enough.iterations());
}

TEST(Asha, GoesOnWithNoneThatFailed) {
  const Search search =
      AshaOverSix("num_configs=1000, R=9", [](const SearchPoint& point, int64_t resource) {
        if (point[0] < 2) return Failure("diverged");
        return point[0] < 3 && resource == 3 ? Failure("late") : Loss(point[0]);
      });
  EXPECT_EQ(search.iterations(), 2 + 3 + 3 * 9);
  // Of none at all it ends as before.
  const Search none = AshaOverSix("num_configs=1000, R=9",
                                  [](const SearchPoint&, int64_t) { return Failure("diverged"); });
  EXPECT_EQ(none.iterations(), 6);
}

// What ends by its budget of configurations has not seen the whole space.
TEST(Asha, ABudgetOfConfigurationsEndsIt) {
  SearchRequest request =
      RequestOf(SpaceOf(R"({"a": [1, 2, 3, 4, 5, 6]})"), "asha", "num_configs=1000, R=9");
  request.seats = 1;
  request.max_configs = 5;
  Search search(std::move(request));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0]); });
  for (const Decision& decision : search.journal().decisions()) {
    EXPECT_EQ(decision.reason.find("as nothing is left to begin"), std::string::npos);
  }
}

TEST(Median, StopsWhatIsWorseThanTheMedian) {
  SearchRequest request = RequestOf(SpaceOf(kUnit), "median",
                                    "num_configs=40, num_iterations=6, min_trials=3, grace=2");
  request.seats = 1;
  Search search(std::move(request));
  Drive(&search, Distance);
  std::vector<double> completed;  // |x - 0.3| of trials in the order of completion
  for (const Trial& trial : search.journal().trials()) {
    const double distance = std::abs(trial.point[0] - 0.3);
    if (completed.size() >= 3) {
      // At step 2 its best is d + 1/2 and others' averages are d + 3/4.
      std::vector<double> sorted = completed;
      std::sort(sorted.begin(), sorted.end());
      const double median = (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2 + 0.5;
      EXPECT_EQ(trial.stopped && trial.resource == 2, distance + 0.5 > median) << trial.id;
    }
    if (trial.resource == 6 && !trial.stopped) completed.push_back(distance);
  }
  EXPECT_GT(Count(search, DecisionKind::kStopped), 3);
  EXPECT_GT(completed.size(), 10U);
}

}  // namespace
}  // namespace hopper
