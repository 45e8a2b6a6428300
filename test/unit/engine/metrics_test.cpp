// Metrics that are not means, in a run: merged over batches, buffers and partitions.
#include <gtest/gtest.h>

#include <vector>

#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

Configuration Model() {
  Configuration config;
  config.arch = MlpJson(20, 24, 3);
  // So slow that it is still wrong now and then.
  config.compile =
      "loss='CategoricalCrossentropy(label_smoothing=0.1)', optimizer='AdamW(learning_rate=1e-6)', "
      "metrics=['TruePositives(thresholds=0.3)', 'TrueNegatives(thresholds=0.3)', "
      "'FalsePositives(thresholds=0.3)', 'FalseNegatives(thresholds=0.3)', "
      "'Precision(thresholds=0.3)', 'Recall(thresholds=0.3)', auc, 'f1_score', r2_score, rmse, "
      "mse, crossentropy]";
  config.fit = "batch_size=10";
  return config;
}

std::vector<double> FinalMetrics(const PackedTable& table, int threads) {
  RunOptions options;
  options.threads = threads;
  options.starts = {0, 1};
  std::vector<hopper_event> events;
  const auto results = TrainAll(options, {Model()}, table, nullptr, &events);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_DONE) << results.at(1).raw.error;
  std::vector<double> metrics;
  for (const hopper_event& event : events) {
    if (event.type != HOPPER_EVENT_METRICS || event.running != 0) continue;
    metrics.assign(event.metrics, event.metrics + event.n_metrics);
  }
  return metrics;
}

TEST(Metrics, FitTogether) {
  const PackedTable table{{}};
  const std::vector<double> m = FinalMetrics(table, 2);
  ASSERT_EQ(m.size(), 12U);
  const double tp = m[0], tn = m[1], fp = m[2], fn = m[3];
  EXPECT_EQ(tp + fn, 203);            // each row has one class
  EXPECT_EQ(tp + tn + fp + fn, 609);  // of three outputs
  EXPECT_GT(fp, 0);
  EXPECT_DOUBLE_EQ(m[4], tp / (tp + fp));
  EXPECT_DOUBLE_EQ(m[5], tp / (tp + fn));
  EXPECT_GT(m[6], 0.0);
  EXPECT_LT(m[6], 1.0);
  EXPECT_GT(m[7], 0.0);
  EXPECT_LT(m[7], 1.0);
  EXPECT_LT(m[8], 1.0);
  EXPECT_DOUBLE_EQ(m[9] * m[9], m[10]);
  EXPECT_GT(m[11], 0.0);
}

TEST(Metrics, DoNotDependOnThreads) {
  const PackedTable table{{}};
  EXPECT_EQ(FinalMetrics(table, 1), FinalMetrics(table, 4));
}

}  // namespace
}  // namespace hopper
