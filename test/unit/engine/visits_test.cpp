// Where the time of each visit went.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

constexpr int kVisitIterations = 3;

std::vector<Configuration> Five() {
  std::vector<Configuration> configs;
  for (int key = 1; key <= 5; ++key) {
    Configuration config;
    config.key = key;
    config.arch = MlpJson(20, 16 * key, 3);
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam(lr=0.01)'";
    config.fit = "batch_size=8, epochs=1";
    configs.push_back(config);
  }
  return configs;
}

TEST(Visits, EachModelPartitionAndIterationComesOnceAndSecondsAddUp) {
  const PackedTable train{{}};
  PackedTable::Options few;
  few.rows = 60;
  few.partitions = 2;
  const PackedTable valid{few};
  for (const int threads : {1, 2, 3}) {
    RunOptions options;
    options.iterations = kVisitIterations;
    options.threads = threads;
    RunDriver run(options, train, &valid);
    for (const Configuration& config : Five()) run.AddConfig(config);
    run.Start();
    run.WaitToEnd();

    std::set<std::tuple<int, int, int>> trained;  // model, iteration, partition
    std::set<std::tuple<int, int, int>> validated;
    std::set<std::tuple<int, int, int>> evaluated;
    std::map<int, double> seconds_training;
    std::map<int, double> seconds_evaluating;
    std::map<int, double> seconds_waiting;
    double hopping = 0.0;
    for (const hopper_visit& visit : run.Visits()) {
      EXPECT_EQ(visit.n_partitions, 1);
      EXPECT_GE(visit.worker, 0);
      EXPECT_LT(visit.worker, threads);
      EXPECT_GE(visit.wait, 0.0);
      EXPECT_GE(visit.hopping, 0.0);
      EXPECT_GE(visit.started, 0.0);
      EXPECT_LE(visit.started + visit.train + visit.evaluate, run.Info().seconds_wall + 1e-6);
      hopping += visit.hopping;
      const std::tuple<int, int, int> what(visit.mst_key, visit.iteration, visit.first_partition);
      if (visit.kind == HOPPER_VISIT_TRAIN) {
        EXPECT_TRUE(trained.insert(what).second);
        EXPECT_EQ(visit.evaluate, 0.0);
        seconds_training[visit.mst_key] += visit.train;
        seconds_waiting[visit.mst_key] += visit.wait + visit.hopping;
      } else {
        EXPECT_TRUE(
            (visit.split == HOPPER_SPLIT_VALID ? validated : evaluated).insert(what).second);
        EXPECT_EQ(visit.train, 0.0);
        seconds_evaluating[visit.mst_key] += visit.evaluate;
      }
    }
    EXPECT_EQ(trained.size(), 5U * kVisitIterations * 4U);
    EXPECT_EQ(validated.size(), 5U * kVisitIterations * 2U);
    EXPECT_EQ(evaluated.size(), 5U * 4U);  // after the last iteration
    double busy = 0.0;
    for (const Configuration& config : Five()) {
      const ModelResult result = run.Result(config.key);
      EXPECT_NEAR(result.raw.seconds_training, seconds_training[config.key], 1e-9);
      EXPECT_NEAR(result.raw.seconds_evaluating, seconds_evaluating[config.key], 1e-9);
      EXPECT_NEAR(result.raw.seconds_waiting, seconds_waiting[config.key], 1e-9);
      busy += result.raw.seconds_training + result.raw.seconds_evaluating;
    }
    const hopper_run_info info = run.Info();
    EXPECT_EQ(info.n_workers, threads);
    EXPECT_LE(busy, info.seconds_busy + 1e-6);
    EXPECT_LE(hopping, info.seconds_hop + 1e-9);
    EXPECT_LE(info.seconds_busy + info.seconds_hop, threads * info.seconds_wall + 1e-6);
    EXPECT_TRUE(run.Visits().empty()) << "they are taken once";
  }
}

// Tasks of a few microseconds are taken together: the visits of an iteration, and the partitions of
// an evaluation. What takes long is shared out.
TEST(Visits, SmallOnesAreOneTask) {
  const PackedTable train{{}};
  RunOptions options;
  options.iterations = kVisitIterations;
  options.threads = 3;
  const auto tasks = [&](int units) {
    RunDriver run(options, train, nullptr);
    Configuration config = Five()[0];
    config.arch = MlpJson(20, units, 3);
    run.AddConfig(config);
    run.Start();
    run.WaitToEnd();
    int waited = 0;  // only a task's first one has waited, or was moved to
    for (const hopper_visit& visit : run.Visits())
      waited += visit.wait + visit.hopping > 0.0 ? 1 : 0;
    return waited;
  };
  EXPECT_LE(tasks(4), kVisitIterations + 1);
  EXPECT_EQ(tasks(2000), (kVisitIterations + 1) * 4);
}

}  // namespace
}  // namespace hopper
