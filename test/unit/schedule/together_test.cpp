#include "schedule/together.h"

#include <gtest/gtest.h>

namespace hopper {
namespace {

TEST(Together, AreSmallTasks) {
  EXPECT_EQ(TasksTogether(0.0), kMostTogether);
  EXPECT_EQ(TasksTogether(2e6 / kMostTogether), kMostTogether);
  EXPECT_EQ(TasksTogether(0.5e6), 4);
  EXPECT_EQ(TasksTogether(0.6e6), 3);
  EXPECT_EQ(TasksTogether(1.5e6), 1);
  EXPECT_EQ(TasksTogether(1e300), 1);
}

TEST(Together, AreVisitsOfOneIteration) {
  RunRules rules;
  rules.num_iterations = 2;
  rules.training_metrics = TrainingMetrics::kEvery;
  rules.partitions = {7, 0};
  const Watching watching;
  Course course;
  EXPECT_EQ(VisitsTogether(rules, watching, course, 4, false), 4);
  course.visit = 4;
  EXPECT_EQ(VisitsTogether(rules, watching, course, 4, false), 3);
  // The last one makes a copy of the weights beside the one that is being evaluated.
  EXPECT_EQ(VisitsTogether(rules, watching, course, 4, true), 2);
  course.visit = 3;
  EXPECT_EQ(VisitsTogether(rules, watching, course, 3, true), 3);
  course.visit = 6;
  EXPECT_EQ(VisitsTogether(rules, watching, course, 4, true), 1);
  rules.training_metrics = TrainingMetrics::kRunning;  // no copy
  course.visit = 4;
  EXPECT_EQ(VisitsTogether(rules, watching, course, 4, true), 3);
}

}  // namespace
}  // namespace hopper
