// Trials that are stopped, pinned and enqueued from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "search/drive.h"

namespace hopper {
namespace {

std::shared_ptr<const SearchSpace> LineSpace() {
  static const auto space = SpaceOf(R"({"lr": {"type": "float", "low": 0, "high": 1}})");
  return space;
}

// A larger "lr" is worse, at each resource.
SearchOutcome LossOnLine(const SearchPoint& point) { return Loss(point[0]); }

struct Steering {
  int64_t after = 0;  // results
  std::function<void(Search*)> act;
};

// The decisions of a search that is steered once, after so many results.
std::string Driven(Search* search, const Steering& steering) {
  std::vector<SearchAssignment> running;
  int64_t told = 0;
  while (!search->done()) {
    if (told++ == steering.after) steering.act(search);
    for (const SearchAssignment& work : search->Ask()) {
      // A trial is never trained twice at once, nor backwards.
      EXPECT_LT(work.from, work.resource);
      running.push_back(work);
    }
    const SearchAssignment work = running.at(0);
    running.erase(running.begin());
    search->Tell(work.trial, LossOnLine(search->journal().trial(work.trial).point));
  }
  return Protocol(*search);
}

int64_t LargestOf(const Search& search, int64_t trial) {
  const std::vector<TrialResult>& results = search.journal().trial(trial).results;
  return results.empty() ? 0 : results.back().resource;
}

// The best trial of those that may still be given iterations, or the worst; -1: there is none.
int64_t Unfinished(const Search& search, int64_t longest, bool best) {
  std::vector<int64_t> ranked = RankTrials(search.journal());
  if (!best) std::reverse(ranked.begin(), ranked.end());
  for (const int64_t id : ranked) {
    const Trial& trial = search.journal().trial(id);
    if (trial.resource < longest && trial.GoesOn() && !trial.stopped) return id;
  }
  return -1;
}

struct SteeredAlgorithm {
  const char* name;
  const char* arguments;
  int64_t longest;  // iterations of a trial that goes to the end
  int64_t after;    // results before it is steered
};

class Steered : public ::testing::TestWithParam<SteeredAlgorithm> {
 protected:
  Search New(int64_t seats = 3) const {
    SearchRequest request = RequestOf(LineSpace(), GetParam().name, GetParam().arguments, 5);
    request.seats = seats;
    return Search(std::move(request));
  }
};

// The best trial of all is stopped: it gets no more iterations, keeps its results, and others take
// its place.
TEST_P(Steered, AStoppedTrialTrainsNoFurther) {
  Search search = New();
  int64_t stopped = -1;
  int64_t reached = 0;
  Driven(&search, {GetParam().after, [&](Search* s) {
                     stopped = Unfinished(*s, GetParam().longest, /*best=*/true);
                     reached = s->journal().trial(stopped).resource;
                     EXPECT_TRUE(s->StopTrial(stopped, "somebody wished it"));
                     EXPECT_FALSE(s->StopTrial(stopped, "twice"));
                     EXPECT_FALSE(s->PinTrial(stopped, true, "too late"));
                   }});
  ASSERT_GE(stopped, 0);
  EXPECT_EQ(LargestOf(search, stopped), reached);
  EXPECT_LT(reached, GetParam().longest);
  EXPECT_FALSE(search.journal().trial(stopped).failed());
  int64_t whole = 0;
  for (const Trial& trial : search.journal().trials()) {
    whole += !trial.results.empty() && trial.results.back().resource == GetParam().longest;
  }
  EXPECT_GT(whole, 0);
  for (const Decision& decision : search.journal().decisions()) {
    if (decision.trial != stopped) continue;
    EXPECT_NE(decision.kind, DecisionKind::kCompleted);
    if (decision.kind == DecisionKind::kStopped) {
      EXPECT_EQ(decision.reason, "somebody wished it");
    }
  }
}

// The worst so far goes to the end, beside those that would have gone on without it.
TEST_P(Steered, APinnedTrialTrainsToTheEnd) {
  // When the search would leave the worst behind.
  int64_t pinned = -1;
  int64_t after = 0;
  for (bool left = false; !left;) {
    ASSERT_LT(++after, 100);
    Search plain = New();
    pinned = -1;
    Driven(&plain, {after, [&](Search* s) {
                      pinned = Unfinished(*s, GetParam().longest, /*best=*/false);
                    }});
    left = pinned >= 0 && LargestOf(plain, pinned) < GetParam().longest;
  }
  Search search = New();
  Driven(&search,
         {after, [&](Search* s) { EXPECT_TRUE(s->PinTrial(pinned, true, "somebody wished it")); }});
  EXPECT_EQ(LargestOf(search, pinned), GetParam().longest);
  EXPECT_EQ(Count(search, DecisionKind::kPinned), 1);
  const std::vector<Trial>& trials = search.journal().trials();
  EXPECT_TRUE(std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) {
    return trial.id != pinned && LargestOf(search, trial.id) == GetParam().longest;
  }));
}

TEST_P(Steered, AnUnpinnedTrialIsAsIfItHadNotBeenPinned) {
  Search plain = New();
  Driven(&plain, {0, [](Search*) {}});
  Search back = New();
  Driven(&back, {0, [&](Search* s) {
                   EXPECT_TRUE(s->PinTrial(0, true, ""));
                   EXPECT_TRUE(s->PinTrial(0, false, ""));
                 }});
  EXPECT_EQ(Count(back, DecisionKind::kUnpinned), 1);
  ASSERT_EQ(back.journal().trials().size(), plain.journal().trials().size());
  for (const Trial& trial : plain.journal().trials()) {
    EXPECT_EQ(LargestOf(back, trial.id), LargestOf(plain, trial.id));
  }
}

TEST_P(Steered, WhatIsEnqueuedIsTheNextThatBegins) {
  if (std::string(GetParam().name) == "pbt") GTEST_SKIP() << "a population begins all at once";
  Search search = New(1);
  Driven(&search, {1, [&](Search* s) { s->Enqueue({0.125}); }});
  const auto& trials = search.journal().trials();
  const auto found = std::find_if(trials.begin(), trials.end(),
                                  [](const Trial& trial) { return trial.point[0] == 0.125; });
  ASSERT_NE(found, trials.end());
  EXPECT_LE(found->id, 10);
  EXPECT_FALSE(found->results.empty());
}

// Any trial, after any number of results: the search ends, and the same again is the same.
TEST_P(Steered, AtAnyMoment) {
  for (int64_t after = 0; after < 40; after += 3) {
    for (const int64_t trial : {0, 4}) {
      for (const bool stops : {true, false}) {
        const Steering steering = {
            after, [&](Search* s) {
              if (trial >= static_cast<int64_t>(s->journal().trials().size())) return;
              if (stops) {
                s->StopTrial(trial, "stop");
              } else {
                s->PinTrial(trial, true, "pin");
              }
            }};
        Search one = New();
        Search two = New();
        ASSERT_EQ(Driven(&one, steering), Driven(&two, steering));
      }
    }
  }
}

// Stopped by who knows the trial only, whatever there is of it.
TEST_P(Steered, AllOfThem) {
  Search search = New();
  Driven(&search, {2, [&](Search* s) {
                     for (size_t i = 0; i < s->journal().trials().size(); ++i) {
                       s->StopTrial(static_cast<int64_t>(i), "all");
                     }
                   }});
  EXPECT_TRUE(search.done());
  EXPECT_THROW(search.StopTrial(1000000, ""), Error);
}

// A trial that has all its iterations stays complete, whatever is wished of it.
TEST(SteeredSearch, OneThatIsComplete) {
  SearchRequest request = RequestOf(LineSpace(), "random", "num_configs=3, num_iterations=4");
  request.seats = 1;
  Search search(std::move(request));
  Driven(&search, {1, [](Search* s) {
                     EXPECT_FALSE(s->StopTrial(0, "too late"));
                     EXPECT_FALSE(s->PinTrial(0, true, "too late"));
                   }});
  EXPECT_FALSE(search.journal().trial(0).over);
  EXPECT_EQ(Count(search, DecisionKind::kStopped), 0);
  EXPECT_EQ(Count(search, DecisionKind::kPinned), 0);
}

// What was tried before, or comes when nothing more begins, is refused instead of forgotten.
TEST(SteeredSearch, WhatIsEnqueuedInVain) {
  SearchRequest request = RequestOf(LineSpace(), "random", "num_configs=6, num_iterations=4");
  request.seats = 2;
  Search search(std::move(request));
  Driven(&search, {1, [](Search* s) {
                     const SearchPoint tried = s->journal().trial(0).point;
                     EXPECT_THROW(s->Enqueue(tried), Error);
                     s->Stop("its time is up");
                     EXPECT_THROW(s->Enqueue({0.125}), Error);
                   }});
  EXPECT_LT(search.journal().trials().size(), 6U);
}

// What waits for the budget is forgotten where it is stopped.
TEST(SteeredSearch, OneThatWaitsForTheBudget) {
  SearchRequest request = RequestOf(LineSpace(), "random", "num_configs=6, num_iterations=4");
  request.seats = 2;
  request.max_iterations = 10;
  Search search(std::move(request));
  Driven(&search, {1, [](Search* s) {
                     ASSERT_EQ(s->journal().trials().size(), 3U);
                     EXPECT_TRUE(s->StopTrial(2, "not this one"));
                   }});
  EXPECT_TRUE(search.journal().trial(2).results.empty());
  EXPECT_EQ(search.iterations(), 8);
}

INSTANTIATE_TEST_SUITE_P(
    All, Steered,
    ::testing::Values(SteeredAlgorithm{"successive_halving", "num_configs=9, R=9", 9, 5},
                      SteeredAlgorithm{"hyperband", "R=9", 9, 5},
                      SteeredAlgorithm{"bohb", "R=9", 9, 5},
                      SteeredAlgorithm{"asha", "num_configs=20, R=9", 9, 2},
                      SteeredAlgorithm{"median", "num_configs=20, num_iterations=9, min_trials=1",
                                       9, 20},
                      SteeredAlgorithm{"pbt", "population=8, generations=9", 9, 8}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hopper
