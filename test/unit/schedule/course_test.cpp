#include "schedule/course.h"

#include <gtest/gtest.h>

namespace hopper {
namespace {

constexpr Watching kNothing = {};
constexpr Watching kLoss = {{true, false}, false};
constexpr Watching kValLoss = {{false, true}, true};

RunRules Rules(TrainingMetrics metrics, int frequency = 1, int valid = 0) {
  RunRules rules;
  rules.num_iterations = 5;
  rules.frequency.fill(frequency);
  rules.training_metrics = metrics;
  rules.partitions = {3, valid};
  return rules;
}

TEST(RunRules, SayWhatIsEvaluated) {
  const RunRules final_only = Rules(TrainingMetrics::kFinal, 2, 4);
  for (int i = 1; i <= 5; ++i) {
    const bool metrics = i == 2 || i == 4 || i == 5;
    EXPECT_EQ(final_only.Reports(kTrainSplit, i), metrics);
    EXPECT_EQ(final_only.TakesRunningMetrics(i), metrics);
    EXPECT_EQ(final_only.Evaluates(kTrainSplit, i, kNothing), i == 5);
    EXPECT_FALSE(final_only.Evaluates(kTrainSplit, i, kLoss));  // its final pass is
    EXPECT_EQ(final_only.Evaluates(kValidSplit, i, kLoss), metrics);
    EXPECT_EQ(Rules(TrainingMetrics::kEvery, 2).Evaluates(kTrainSplit, i, kLoss), metrics);
    EXPECT_FALSE(Rules(TrainingMetrics::kEvery, 2).TakesRunningMetrics(i));
    EXPECT_FALSE(Rules(TrainingMetrics::kRunning).Evaluates(kTrainSplit, i, kNothing));
    EXPECT_FALSE(Rules(TrainingMetrics::kEvery).Evaluates(kValidSplit, i, kNothing));
  }
  EXPECT_EQ(final_only.EvaluatedPartitions(), 7);
  EXPECT_EQ(Rules(TrainingMetrics::kRunning).EvaluatedPartitions(), 0);
  EXPECT_TRUE(Rules(TrainingMetrics::kRunning, 2).KeepsWeights(4, {{true, false}, true}));
  EXPECT_FALSE(Rules(TrainingMetrics::kRunning, 2).KeepsWeights(3, {{true, false}, true}));
  EXPECT_FALSE(Rules(TrainingMetrics::kRunning, 2).KeepsWeights(4, kLoss));
}

TEST(Ordered, IsWhatTheIterationWantsAndThenWhatIsDelivered) {
  using Splits = std::array<bool, 2>;
  const RunRules rules = Rules(TrainingMetrics::kFinal, 2, 4);
  Course course;
  course.iterations = 2;
  EXPECT_EQ(Ordered(rules, kNothing, course, 2), (Splits{false, true}));
  course.iterations = 3;
  EXPECT_EQ(Ordered(rules, kNothing, course, 3), (Splits{false, false}));
  course.iterations = 5;
  EXPECT_EQ(Ordered(rules, kNothing, course, 5), (Splits{true, true}));
  EXPECT_EQ(Ordered(rules, kLoss, course, 5), (Splits{false, true}));
  course.final_pass = true;
  EXPECT_EQ(Ordered(rules, kLoss, course, 5), (Splits{true, false}));
  EXPECT_EQ(Ordered(rules, kLoss, course, 3), (Splits{true, true}));
  EXPECT_EQ(Ordered(rules, kLoss, course, 0), (Splits{true, true}));
}

TEST(Watching, KnowsWhatItWaitsFor) {
  EXPECT_TRUE(Knows(kNothing, {false, false}));
  EXPECT_FALSE(Knows(kLoss, {false, true}));
  EXPECT_TRUE(Knows(kLoss, {true, false}));
  EXPECT_FALSE(Knows(kValLoss, {true, false}));
  EXPECT_FALSE(Knows({{true, true}, false}, {true, false}));
}

// A model that watches both goes on without a decision where only one of them is known.
TEST(RunRules, ValidateAtAFrequencyOfItsOwn) {
  RunRules rules = Rules(TrainingMetrics::kEvery, 1, 4);
  rules.num_iterations = 7;
  rules.frequency[kValidSplit] = 3;
  const Watching both = {{true, true}, true};
  for (int i = 1; i <= 7; ++i) {
    const bool validated = i == 3 || i == 6 || i == 7;
    EXPECT_TRUE(rules.Evaluates(kTrainSplit, i, kNothing));
    EXPECT_EQ(rules.Evaluates(kValidSplit, i, kNothing), validated);
    EXPECT_TRUE(rules.Decides(i, kLoss));
    EXPECT_EQ(rules.Decides(i, kValLoss), validated);
    EXPECT_EQ(rules.Decides(i, both), validated);
    EXPECT_FALSE(rules.Decides(i, kNothing));
  }
  EXPECT_EQ(rules.Evaluations(kTrainSplit, 1, 7), 7);
  EXPECT_EQ(rules.Evaluations(kValidSplit, 1, 7), 3);
  rules.frequency = {3, 2};
  EXPECT_FALSE(rules.Decides(4, both));
  EXPECT_TRUE(rules.Decides(6, both));
  rules.training_metrics = TrainingMetrics::kRunning;
  EXPECT_FALSE(rules.KeepsWeights(3, kNothing));
  EXPECT_TRUE(rules.KeepsWeights(4, kNothing));
}

TEST(Course, GoesThroughVisitsToItsEnd) {
  const RunRules rules = Rules(TrainingMetrics::kFinal);
  Course course;
  for (int64_t left = 15; left > 0; --left) {
    EXPECT_TRUE(HasVisits(rules, course));
    EXPECT_EQ(VisitsLeft(rules, course), left);
    EXPECT_EQ(WhatFollows(rules, kNothing, course, course.iterations), AfterReports::kGoesOn);
    const bool ends = EndsIteration(rules, course);
    EXPECT_EQ(ends, left % 3 == 1);
    EXPECT_EQ(EndVisit(rules, kNothing, &course), ends);
    EXPECT_FALSE(course.deciding);
  }
  EXPECT_EQ(course.iterations, 5);
  EXPECT_FALSE(HasVisits(rules, course));
  EXPECT_EQ(WhatFollows(rules, kNothing, course, course.iterations), AfterReports::kDone);
}

TEST(Course, WaitsForWhatItWatchesAndIsEvaluatedAtItsEnd) {
  const RunRules rules = Rules(TrainingMetrics::kFinal, 2, 1);
  Course course;
  for (int visit = 1; visit <= 6; ++visit) EndVisit(rules, kValLoss, &course);
  EXPECT_TRUE(course.deciding);
  EXPECT_EQ(WhatFollows(rules, kValLoss, course, 2), AfterReports::kGoesOn);
  Decide(true, &course);
  EXPECT_EQ(LastIteration(rules, course), 2);
  EXPECT_EQ(VisitsLeft(rules, course), 0);
  EXPECT_EQ(WhatFollows(rules, kValLoss, course, 2), AfterReports::kFinalPass);
  course.final_pass = true;
  EXPECT_EQ(WhatFollows(rules, kValLoss, course, 2), AfterReports::kDone);
  course.final_pass = false;
  EXPECT_EQ(WhatFollows(Rules(TrainingMetrics::kEvery, 2, 1), kValLoss, course, 2),
            AfterReports::kDone);
  // A warm start that was stopped before has nothing to be evaluated.
  Course stopped;
  Decide(true, &stopped);
  EXPECT_EQ(WhatFollows(rules, kValLoss, stopped, 0), AfterReports::kDone);
}

// Where it stops is not where it would have been evaluated by the clock, nor is its best iteration.
TEST(Course, EndsWithValuesOfWhatItDelivers) {
  RunRules rules = Rules(TrainingMetrics::kFinal, 1, 2);
  rules.frequency[kValidSplit] = 4;
  Course course;
  for (int visit = 1; visit <= 9; ++visit) EndVisit(rules, kLoss, &course);
  EXPECT_TRUE(course.deciding);
  Decide(true, &course);
  for (const int32_t delivered : {3, 2, 0, -4}) {
    EXPECT_EQ(WhatFollows(rules, kLoss, course, delivered), AfterReports::kFinalPass);
    EXPECT_TRUE(rules.EndsWith(kTrainSplit, delivered, kLoss));
    EXPECT_TRUE(rules.EndsWith(kValidSplit, delivered, kLoss)) << delivered;
  }
  // By the clock; after its last iteration; nobody watches.
  EXPECT_FALSE(rules.EndsWith(kValidSplit, 4, kLoss));
  EXPECT_FALSE(rules.EndsWith(kValidSplit, 5, kLoss));
  EXPECT_FALSE(rules.EndsWith(kValidSplit, 3, kNothing));
  EXPECT_FALSE(rules.EndsWith(kTrainSplit, 3, kNothing));
  rules.training_metrics = TrainingMetrics::kRunning;
  EXPECT_EQ(WhatFollows(rules, kLoss, course, 3), AfterReports::kFinalPass);
  EXPECT_FALSE(rules.EndsWith(kTrainSplit, 3, kLoss));
  rules.partitions[kValidSplit] = 0;
  EXPECT_EQ(WhatFollows(rules, kLoss, course, 3), AfterReports::kDone);
  // The best iteration has been validated, but its training values are lacking.
  rules = Rules(TrainingMetrics::kEvery, 2, 2);
  rules.frequency[kValidSplit] = 3;
  course.iterations = 5;
  EXPECT_EQ(WhatFollows(rules, kValLoss, course, 3), AfterReports::kFinalPass);
  EXPECT_TRUE(rules.EndsWith(kTrainSplit, 3, kValLoss));
  EXPECT_FALSE(rules.EndsWith(kValidSplit, 3, kValLoss));
  EXPECT_EQ(WhatFollows(rules, kValLoss, course, 5), AfterReports::kDone);
  course.final_pass = true;
  EXPECT_EQ(WhatFollows(rules, kValLoss, course, 3), AfterReports::kDone);
}

TEST(Segments, HaveTurns) {
  const SegmentKeys keys = {{{{10, 10, 20, 20, 30}, {30, 40}}}};
  EXPECT_EQ(keys.All(), (std::vector<int32_t>{10, 20, 30, 40}));
  const Ring ring(5, {0, 3});
  EXPECT_EQ(VisitsOn(keys, ring, 1, 0, 10), 2);
  EXPECT_EQ(VisitsOn(keys, ring, 1, 1, 10), 1);
  EXPECT_EQ(VisitsOn(keys, ring, 1, 1, 20), 0);
  EXPECT_EQ(VisitsOn(keys, ring, 1, 4, 30), 1);
  EXPECT_EQ(NextToEvaluate(keys.All(), 30, [](int32_t key) { return key != 40; }), 10);
  EXPECT_EQ(NextToEvaluate(keys.All(), 30, [](int32_t key) { return key == 30; }), 30);
}

}  // namespace
}  // namespace hopper
