#include "schedule/forecast.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace hopper {
namespace {

constexpr int kRunningMetrics = 1;
constexpr int kFinalMetrics = 2;
constexpr int kEveryMetrics = 3;

std::vector<int> EachPartition(int n) {
  std::vector<int> starts(static_cast<size_t>(n));
  std::iota(starts.begin(), starts.end(), 0);
  return starts;
}

std::vector<ModelCost> Models(const std::vector<double>& visits) {
  std::vector<ModelCost> models;
  for (size_t i = 0; i < visits.size(); ++i) {
    ModelCost model;
    model.key = static_cast<int>(i) + 1;
    model.visit = visits[i];
    models.push_back(model);
  }
  return models;
}

RunRules Shape(int iterations, int metrics = kRunningMetrics) {
  RunRules shape;
  shape.num_iterations = iterations;
  shape.training_metrics = static_cast<TrainingMetrics>(metrics);
  return shape;
}

double Sum(const Forecast& f) { return f.train + f.evaluate + f.hop + f.idle; }

// ---------------------------------------------------------------- tables worked out by hand

TEST(ForecastLocal, OneModelOnOneWorkerTakesItsWork) {
  // 3 partitions x 2 iterations of 5 s and 6 hops of 1 s.
  const Forecast f = ForecastLocal(Ring(3, {0}), Models({5.0}), Shape(2), 1, 1.0);
  EXPECT_DOUBLE_EQ(f.seconds, 36.0);
  EXPECT_DOUBLE_EQ(f.train, 30.0);
  EXPECT_DOUBLE_EQ(f.hop, 6.0);
  EXPECT_DOUBLE_EQ(f.idle, 0.0);
}

TEST(ForecastLocal, SmallTasksAreTakenAtOnce) {
  // 5 partitions x 2 iterations of 3 s, evaluated in 2 s each; 3 or 2 of them a hop of 1 s.
  std::vector<ModelCost> models = Models({3.0});
  models[0].evaluation = 2.0;
  models[0].visits_together = 3;
  models[0].evaluations_together = {2, 1};
  const Forecast f = ForecastLocal(Ring(5, {0}), models, Shape(2, kEveryMetrics), 1, 1.0);
  EXPECT_DOUBLE_EQ(f.train, 30.0);
  EXPECT_DOUBLE_EQ(f.evaluate, 20.0);
  EXPECT_DOUBLE_EQ(f.hop, 2 * (2 + 3));
  EXPECT_DOUBLE_EQ(f.seconds, 60.0);
  // Of a long run most iterations are not played.
  const Forecast longer =
      ForecastLocal(Ring(5, {0}), models, Shape(1000000, kEveryMetrics), 1, 1.0);
  EXPECT_NEAR(longer.hop, 5e6, 1.0);
}

TEST(ForecastLocal, OneModelKeepsOneOfTwoWorkersBusy) {
  const Forecast f = ForecastLocal(Ring(3, {0}), Models({5.0}), Shape(2), 2, 0.0);
  EXPECT_DOUBLE_EQ(f.seconds, 30.0);
  EXPECT_DOUBLE_EQ(f.idle, 30.0);
  EXPECT_DOUBLE_EQ(f.IdleShare(2), 0.5);
}

TEST(ForecastLocal, TheLongestModelEndsLast) {
  // Visits of 8 and eight times 1 on two partitions, two workers: 16 s beside 16 s.
  const Forecast f =
      ForecastLocal(Ring(2, {0, 1}), Models({8, 1, 1, 1, 1, 1, 1, 1, 1}), Shape(1), 2, 0.0);
  EXPECT_DOUBLE_EQ(f.seconds, 16.0);
  EXPECT_DOUBLE_EQ(f.idle, 0.0);
}

TEST(ForecastLocal, ThreeEqualVisitsOnTwoWorkers) {
  // One partition, one iteration: 2 + 2 s, one worker rests for the second half.
  const Forecast f = ForecastLocal(Ring(1, {0}), Models({2, 2, 2}), Shape(1), 2, 0.0);
  EXPECT_DOUBLE_EQ(f.seconds, 4.0);
  EXPECT_DOUBLE_EQ(f.idle, 2.0);
}

TEST(ForecastLocal, PartitionsAreEvaluatedSideBySide) {
  // Training 4 s alone, then 4 partitions of 1 s on two workers.
  std::vector<ModelCost> models = Models({1.0});
  models[0].evaluation = 1.0;
  const Forecast f = ForecastLocal(Ring(4, {0}), models, Shape(1, kFinalMetrics), 2, 0.0);
  EXPECT_DOUBLE_EQ(f.seconds, 6.0);
  EXPECT_DOUBLE_EQ(f.evaluate, 4.0);
  EXPECT_DOUBLE_EQ(f.idle, 4.0);
}

TEST(Forecast, EndsWhenItIsCancelled) {
  const std::atomic<bool> cancel{true};
  const std::vector<ModelCost> models = Models(std::vector<double>(3000, 1.0));
  EXPECT_EQ(ForecastLocal(Ring(120, {0}), models, Shape(9), 4, 0.0, &cancel).seconds, 0.0);
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = std::vector<int32_t>(120, 10);
  EXPECT_EQ(ForecastSegments(Ring(120, {0}), models, Shape(9), places, 0.0, &cancel).seconds, 0.0);
}

// Ten minutes each where every task looks at every model.
TEST(Forecast, PlaysTenThousandModels) {
  const std::vector<ModelCost> models = Models(std::vector<double>(10000, 1.0));
  const Forecast local = ForecastLocal(Ring(60, {0}), models, Shape(1, kFinalMetrics), 4, 0.0);
  EXPECT_DOUBLE_EQ(local.seconds, 10000 * 60 / 4);
  SegmentPlaces places;
  for (int p = 0; p < 60; ++p) places.keys.of[kTrainSplit].push_back(p / 3);
  const Forecast segments =
      ForecastSegments(Ring(60, EachPartition(60)), models, Shape(1, kEveryMetrics), places, 0.0);
  EXPECT_GT(segments.seconds, 0.0);
}

TEST(ForecastLocal, ValidationComesAtItsFrequency) {
  std::vector<ModelCost> models = Models({1.0});
  models[0].validation = 3.0;
  RunRules shape = Shape(5);
  shape.frequency.fill(2);  // after 2, 4 and the last
  shape.partitions[kValidSplit] = 1;
  const Forecast f = ForecastLocal(Ring(1, {0}), models, shape, 1, 0.0);
  EXPECT_DOUBLE_EQ(f.evaluate, 9.0);
  EXPECT_DOUBLE_EQ(f.seconds, 14.0);
}

// What is kept for later is computed in the first iteration and by the first validation.
TEST(Forecast, WhatIsKeptIsComputedOnce) {
  std::vector<ModelCost> models = Models({5.0});
  models[0].first_visit = 2.0;
  models[0].validation = 1.0;
  models[0].first_validation = 0.5;
  RunRules shape = Shape(7);
  shape.frequency.fill(2);  // after 2, 4, 6 and the last
  shape.partitions[kValidSplit] = 3;
  const Forecast local = ForecastLocal(Ring(4, {0}), models, shape, 1, 0.0);
  EXPECT_DOUBLE_EQ(local.train, 7 * 4 * 5.0 + 4 * 2.0);
  EXPECT_DOUBLE_EQ(local.evaluate, 4 * 3 * 1.0 + 3 * 0.5);
  EXPECT_DOUBLE_EQ(local.seconds, local.train + local.evaluate);
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 10, 20, 20};
  places.keys.of[kValidSplit] = {10, 20, 20};
  const Forecast segments = ForecastSegments(Ring(4, {0}), models, shape, places, 0.0);
  EXPECT_NEAR(segments.train, local.train, 1e-9);
  EXPECT_NEAR(segments.evaluate, local.evaluate, 1e-9);
  EXPECT_NEAR(segments.seconds, local.seconds, 1e-9);
  EXPECT_NEAR(segments.idle, segments.seconds, 1e-9) << "one model on two segments";
  // Long runs, of which the first iterations are played.
  shape.num_iterations = 1000000;
  shape.frequency.fill(1000000);
  const Forecast longer = ForecastLocal(Ring(4, {0}), models, shape, 1, 0.0);
  EXPECT_NEAR(longer.train, 1e6 * 4 * 5.0 + 4 * 2.0, 1e-3);
}

// More evaluations under way than a deque keeps in one piece: an iteration takes 1 s, evaluating
// it 60.
TEST(ForecastLocal, ManyEvaluationsAreUnderWay) {
  std::vector<ModelCost> models = Models({1.0});
  models[0].validation = 60.0;
  RunRules shape = Shape(50);
  shape.frequency.fill(1);
  shape.partitions[kValidSplit] = 1;
  for (const int workers : {1, 2, 3, 40}) {
    const Forecast f = ForecastLocal(Ring(1, {0}), models, shape, workers, 0.0);
    EXPECT_NEAR(f.train, 50.0, 1e-6) << workers;
    EXPECT_NEAR(f.evaluate, 3000.0, 1e-6) << workers;
    EXPECT_NEAR(Sum(f), f.seconds * workers, 1e-6) << workers;
  }
}

TEST(ForecastSegments, EqualModelsOneASegmentWaitForNobody) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 20, 30};
  const Forecast f = ForecastSegments(Ring(3, {0, 1, 2}), Models({2, 2, 2}), Shape(4), places, 0.5);
  // 12 statements of 2.5 s
  EXPECT_DOUBLE_EQ(f.seconds, 30.0);
  EXPECT_DOUBLE_EQ(f.train, 72.0);
  EXPECT_DOUBLE_EQ(f.hop, 18.0);
  EXPECT_DOUBLE_EQ(f.idle, 0.0);
}

TEST(ForecastSegments, UnequalModelsWaitForTheSlowest) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 20, 30};
  const Forecast f = ForecastSegments(Ring(3, {0, 1, 2}), Models({8, 1, 1}), Shape(1), places, 0.0);
  // Each of 3 statements takes 8 s; 2 of 3 segments work 1 s of them.
  EXPECT_DOUBLE_EQ(f.seconds, 24.0);
  EXPECT_DOUBLE_EQ(f.train, 30.0);
  EXPECT_DOUBLE_EQ(f.idle, 42.0);
  EXPECT_NEAR(f.IdleShare(3), 42.0 / 72.0, 1e-12);
}

TEST(ForecastSegments, NineModelsThatDifferEightToOne) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 20, 30};
  // Keys 1, 4, 7 share a segment; so do 2, 5, 8 and 3, 6, 9. The first of each is the heavy one.
  const Forecast even = ForecastSegments(Ring(3, {0, 1, 2}), Models({8, 8, 8, 1, 1, 1, 1, 1, 1}),
                                         Shape(1), places, 0.0);
  EXPECT_DOUBLE_EQ(even.seconds, 30.0);
  EXPECT_DOUBLE_EQ(even.idle, 0.0);
  // All heavy ones on one segment: 24 s of 24 + 3 + 3, three times.
  const Forecast uneven = ForecastSegments(Ring(3, {0, 1, 2}), Models({8, 1, 1, 8, 1, 1, 8, 1, 1}),
                                           Shape(1), places, 0.0);
  EXPECT_DOUBLE_EQ(uneven.seconds, 72.0);
  EXPECT_DOUBLE_EQ(uneven.IdleShare(3), 126.0 / 216.0);
}

TEST(ForecastSegments, AModelStaysForItsSegmentsWholeRun) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 10, 20, 20};
  // From 0: partitions 0, 1 | 2, 3; two statements. From 1: 1 | 2, 3 | 0; three.
  EXPECT_DOUBLE_EQ(ForecastSegments(Ring(4, {0}), Models({1}), Shape(1), places, 100.0).seconds,
                   204.0);
  EXPECT_DOUBLE_EQ(
      ForecastSegments(Ring(4, {0, 1}), Models({0, 1}), Shape(1), places, 100.0).seconds, 304.0);
}

TEST(ForecastSegments, EvaluationVisitsTheOtherSegments) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 20, 30};
  std::vector<ModelCost> models = Models({2});
  models[0].evaluation = 1.0;
  const Forecast f =
      ForecastSegments(Ring(3, {0, 1, 2}), models, Shape(1, kEveryMetrics), places, 0.0);
  // The third statement trains and evaluates, two more evaluate: 2 + 2 + 3 + 1 + 1.
  EXPECT_DOUBLE_EQ(f.seconds, 9.0);
  EXPECT_DOUBLE_EQ(f.train, 6.0);
  EXPECT_DOUBLE_EQ(f.evaluate, 3.0);
}

TEST(ForecastSegments, StatesTakeTimeToMove) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 20};
  std::vector<ModelCost> models = Models({1, 1, 1});
  for (ModelCost& model : models) model.hop = 0.25;
  // Two of the three go to one segment: 2 s of training and 0.5 s of moving, twice.
  EXPECT_DOUBLE_EQ(ForecastSegments(Ring(2, {0, 1}), models, Shape(1), places, 0.0).seconds, 5.0);
}

TEST(ForecastSegments, ModelsThatStayAreDealtOut) {
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {10, 20, 30};
  places.patience = 0.5;
  std::vector<ModelCost> models = Models({1, 8, 2, 4, 3});
  for (ModelCost& model : models) model.hop = 0.25;
  const Forecast f = ForecastSegments(Ring(3, {0, 1, 2}), models, Shape(4), places, 0.5);
  // 8 | 4, 1 | 3, 2: 96 s in 4 statements, each of which begins no second iteration of 24 s.
  EXPECT_DOUBLE_EQ(f.seconds, 96.0 + 4 * (0.5 + 2 * 0.25));
  EXPECT_DOUBLE_EQ(f.train, 18.0 * 12);
  EXPECT_DOUBLE_EQ(f.hop, 4 * (0.5 + 2 * 0.25) * 3);
  EXPECT_DOUBLE_EQ(f.idle, 100.0 * 3 - 216.0 - 12.0);
  // 400 iterations of 3 ms in three statements
  const Forecast quick =
      ForecastSegments(Ring(3, {0, 1, 2}), Models({1e-3}), Shape(400), places, 0.01);
  EXPECT_NEAR(quick.seconds, 1.2 + 3 * 0.01, 1e-9);
}

// ---------------------------------------------------------------- properties

TEST(Forecast, SecondsAddUpAndBoundsHold) {
  std::mt19937 random(5);
  const auto uniform = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  for (int round = 0; round < 300; ++round) {
    const int partitions = uniform(1, 7);
    const Ring ring(partitions, EachPartition(partitions));
    const int workers = uniform(1, 5);
    RunRules shape = Shape(uniform(1, 6), uniform(1, 3));
    shape.frequency = {uniform(1, 3), uniform(1, 4)};
    shape.partitions[kValidSplit] = uniform(0, 3);
    std::vector<ModelCost> models;
    double work = 0.0;
    double longest = 0.0;
    for (int i = uniform(1, 9); i > 0; --i) {
      ModelCost model;
      model.key = i;
      model.visit = uniform(0, 80) / 8.0;
      model.evaluation = uniform(0, 20) / 8.0;
      model.validation = uniform(0, 20) / 8.0;
      double own = model.visit * partitions * shape.num_iterations;
      longest = std::max(longest, own);
      for (int k = 1; k <= shape.num_iterations; ++k) {
        if (shape.Evaluates(kTrainSplit, k, {})) own += model.evaluation * partitions;
        if (shape.Evaluates(kValidSplit, k, {}))
          own += model.validation * shape.partitions[kValidSplit];
      }
      work += own;
      models.push_back(model);
    }
    const Forecast local = ForecastLocal(ring, models, shape, workers, 0.125);
    EXPECT_NEAR(local.train + local.evaluate, work, 1e-6);
    EXPECT_NEAR(Sum(local), local.seconds * workers, 1e-6);
    EXPECT_GE(local.seconds * workers, work - 1e-6);
    EXPECT_GE(local.seconds, longest - 1e-6);
    // Graham's bound of list scheduling: a share of all work, and the longest chain of tasks.
    const double chain = longest + 0.125 * (partitions * shape.num_iterations + 1) + 20.0 / 8.0;
    EXPECT_LE(local.seconds, (work + local.hop) / workers + chain + 1e-6);

    SegmentPlaces places;
    const int segments = uniform(1, std::min(partitions, 3));
    for (int p = 0; p < partitions; ++p)
      places.keys.of[kTrainSplit].push_back(p * segments / partitions);
    for (int p = 0; p < shape.partitions[kValidSplit]; ++p) {
      places.keys.of[kValidSplit].push_back(p % segments);
    }
    places.workers = uniform(1, 3);
    const int all = segments * places.workers;
    const Forecast hops = ForecastSegments(ring, models, shape, places, 0.5);
    EXPECT_NEAR(hops.train + hops.evaluate, work, 1e-6);
    EXPECT_NEAR(Sum(hops), hops.seconds * all, 1e-6);
    EXPECT_GE(hops.seconds, longest + 0.5 * shape.num_iterations - 1e-6);
  }
}

TEST(Forecast, LongRunsGoOnAtThePaceOfTheirWork) {
  // Too many tasks to play: 400 equal models on 8 workers for 2,000 iterations.
  const std::vector<double> visits(400, 0.01);
  const Forecast f =
      ForecastLocal(Ring(20, EachPartition(20)), Models(visits), Shape(2000), 8, 0.0);
  const double work = 400 * 0.01 * 20 * 2000;
  EXPECT_NEAR(f.train, work, work * 1e-9);
  EXPECT_NEAR(f.seconds, work / 8, work / 8 * 1e-3);
  // One model among idle workers: its own length counts.
  const Forecast one =
      ForecastLocal(Ring(20, EachPartition(20)), Models({0.01}), Shape(10000000), 4, 0.0);
  EXPECT_NEAR(one.seconds, 0.01 * 20 * 1e7, 1.0);
  EXPECT_NEAR(one.IdleShare(4), 0.75, 1e-6);
}

TEST(RunRules, CountsWhatItSays) {
  for (const int metrics : {kRunningMetrics, kFinalMetrics, kEveryMetrics}) {
    for (int n = 1; n <= 9; ++n) {
      for (int frequency = 1; frequency <= 11; ++frequency) {
        RunRules shape = Shape(n, metrics);
        shape.frequency = {frequency, 12 - frequency};
        shape.partitions[kValidSplit] = 1;
        int training = 0;
        int validation = 0;
        for (int i = n; i >= 0; --i) {
          EXPECT_EQ(shape.Evaluations(kTrainSplit, i + 1, shape.num_iterations), training)
              << n << " " << frequency << " " << i;
          EXPECT_EQ(shape.Evaluations(kValidSplit, i + 1, shape.num_iterations), validation)
              << n << " " << frequency << " " << i;
          training += shape.Evaluates(kTrainSplit, i, {}) ? 1 : 0;
          validation += shape.Evaluates(kValidSplit, i, {}) ? 1 : 0;
        }
      }
    }
  }
}

// Hours where the iterations are counted one by one, and no end where their number has none above
// it.
TEST(Forecast, AnyNumberOfIterationsIsQuick) {
  std::vector<ModelCost> models = Models({1.0});
  models[0].evaluation = 2.0;
  models[0].validation = 3.0;
  RunRules shape = Shape(std::numeric_limits<int>::max(), kEveryMetrics);
  shape.partitions[kValidSplit] = 1;
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {1};
  places.keys.of[kValidSplit] = {1};
  // Prime: only multiples of the frequency, and the last.
  for (const int frequency : {1, 1000000007}) {
    shape.frequency.fill(frequency);
    const double evaluations = frequency == 1 ? shape.num_iterations : 3;
    EXPECT_EQ(shape.Evaluations(kTrainSplit, 0 + 1, shape.num_iterations), evaluations);
    const Forecast local = ForecastLocal(Ring(1, {0}), models, shape, 1, 0.0);
    EXPECT_NEAR(local.seconds, shape.num_iterations + 5.0 * evaluations, 10.0);
    const Forecast segments = ForecastSegments(Ring(1, {0}), models, shape, places, 0.0);
    EXPECT_DOUBLE_EQ(segments.evaluate, 5.0 * evaluations);
  }
}

TEST(Forecast, NothingToDoTakesNoTime) {
  EXPECT_EQ(ForecastLocal(Ring(2, {0, 1}), {}, Shape(3), 2, 1.0).seconds, 0.0);
  SegmentPlaces places;
  places.keys.of[kTrainSplit] = {1, 2};
  EXPECT_EQ(ForecastSegments(Ring(2, {0, 1}), {}, Shape(3), places, 1.0).seconds, 0.0);
  EXPECT_EQ(Forecast().IdleShare(4), 0.0);
}

}  // namespace
}  // namespace hopper
