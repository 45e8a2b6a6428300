// Forecasts of runs, through the functions that the glue calls. How near their seconds come to
// those of runs is for bench/explain.py.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/features.h"
#include "engine/examples.h"
#include "support/data_desc.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

Configuration ExplainedMlp(int32_t key, int units, const char* fit = "batch_size=8, epochs=1") {
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, units, 3);
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam(lr=0.01)'";
  config.fit = fit;
  return config;
}

struct Answer {
  hopper_explain_run run = {};
  std::vector<hopper_explain_model> models;
};

Answer Ask(const std::vector<Configuration>& configs, const PackedTable& train,
           const PackedTable* valid, int threads, const std::vector<int32_t>& keys = {},
           double seconds = 0.2, int iterations = 4, const char* precision = "fp32",
           int64_t memory_limit = int64_t{1} << 30, int threads_per_model = 1) {
  const EventFd event_fd;
  const int32_t starts[] = {0, 1, 2, 3};
  hopper_run_options options = {};
  options.num_iterations = iterations;
  options.metrics_compute_frequency = 1;
  options.training_metrics = HOPPER_METRICS_FINAL;
  options.threads = threads;
  options.n_starts = 4;
  options.starts = starts;
  options.memory_limit = memory_limit;
  options.threads_per_model = threads_per_model;
  options.precision = precision;
  options.event_fd = event_fd.fd();
  hopper_explain_costs costs = {};
  costs.seconds = seconds;
  costs.read_bytes_per_second = 1e6;
  costs.statement = 0.5;
  costs.threads_per_segment = 1;
  hopper_error error = {};
  hopper_explain* explain = nullptr;
  EXPECT_EQ(
      Api().explain.create(&options, &train.desc(), valid ? &valid->desc() : nullptr,
                           keys.empty() ? nullptr : keys.data(), nullptr, &costs, &explain, &error),
      0)
      << error.message;
  for (const Configuration& config : configs) {
    hopper_config raw = {};
    raw.mst_key = config.key;
    raw.model_arch = config.arch.data();
    raw.model_arch_size = config.arch.size();
    raw.compile_params = config.compile.c_str();
    raw.fit_params = config.fit.c_str();
    EXPECT_EQ(Api().explain.add_config(explain, &raw, &error), 0) << error.message;
  }
  EXPECT_EQ(Api().explain.start(explain, &error), 0) << error.message;
  int done = 0;
  while ((done = Api().explain.poll(explain, &error)) == 0) event_fd.Wait();
  EXPECT_EQ(done, 1) << error.message;
  Answer answer;
  EXPECT_EQ(Api().explain.run(explain, &answer.run, &error), 0);
  answer.models.resize(configs.size());
  for (size_t i = 0; i < configs.size(); ++i) {
    EXPECT_EQ(Api().explain.model(explain, static_cast<int32_t>(i), &answer.models[i], &error), 0);
  }
  EXPECT_NE(Api().explain.model(explain, 99, &answer.models[0], &error), 0);
  Api().explain.free(explain);
  return answer;
}

TEST(Explain, CountsAndBytesAreExact) {
  const PackedTable train{{}};  // 203 rows in 4 partitions: 51, 51, 51, 50
  PackedTable::Options few;
  few.rows = 60;
  few.partitions = 2;
  const PackedTable valid{few};
  const Answer answer =
      Ask({ExplainedMlp(1, 16), ExplainedMlp(2, 16, "batch_size=50, epochs=3")}, train, &valid, 2);
  EXPECT_EQ(answer.run.n_workers, 2);
  EXPECT_EQ(answer.run.bytes_data, (203 + 60) * (20 + 2));
  EXPECT_NEAR(answer.run.seconds_read, answer.run.bytes_data / 1e6, 1e-12);
  EXPECT_EQ(answer.models[0].steps, 4 * 7);
  EXPECT_EQ(answer.models[1].steps, (3 * 2 + 1) * 3);
  EXPECT_EQ(answer.models[1].n_passes, 3);
  EXPECT_EQ(answer.models[0].n_parameters, 20 * 16 + 16 + 4 * 16 + 16 * 3 + 3);
  // Weights and Adam's two moments.
  EXPECT_GE(answer.models[0].bytes_state, answer.models[0].n_parameters * 4);
  for (const hopper_explain_model& model : answer.models) {
    EXPECT_EQ(model.code, HOPPER_OK) << model.problem;
    EXPECT_EQ(model.measured, 1);
    EXPECT_GT(model.seconds_step, 0.0);
    EXPECT_GT(model.seconds_validation, 0.0);
    EXPECT_NEAR(model.seconds_evaluating, model.seconds_evaluation + 4 * model.seconds_validation,
                1e-9);
  }
  const hopper_explain_run& run = answer.run;
  EXPECT_NEAR(run.seconds_train + run.seconds_evaluate + run.seconds_hop + run.seconds_wait,
              run.seconds * 2, 1e-9);
  EXPECT_NEAR(run.seconds_train,
              4 * (answer.models[0].seconds_iteration + answer.models[1].seconds_iteration), 1e-9);
}

// What a frozen part gives of made-up examples is computed once, as a run does it, and counted once
// beside the iterations.
TEST(Explain, FrozenPartsAreCountedOnce) {
  PackedTable::Options images;
  images.x_shape = {8, 8, 1};
  const PackedTable train{images};
  const auto head = [](int32_t key, const char* fit) {
    Configuration config = ExplainedMlp(key, 8, fit);
    config.arch = KerasSequential(
        {KerasLayer("Conv2D", "conv",
                    R"("batch_input_shape": [null, 8, 8, 1], "filters": 8, "kernel_size": [3, 3],
                       "trainable": false)"),
         KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "softmax")});
    return config;
  };
  const int64_t before = FeatureStore::computed();
  const Answer answer = Ask({head(1, "batch_size=8, epochs=1"), head(2, "batch_size=16, epochs=1")},
                            train, &train, 2, {}, 2.0);
  // Of each kind: a batch, several batches, and the rows that are evaluated.
  EXPECT_GE(FeatureStore::computed() - before, 2);
  EXPECT_LE(FeatureStore::computed() - before, 2 * 3);
  double iterations = 0.0;
  double evaluations = 0.0;
  for (const hopper_explain_model& model : answer.models) {
    EXPECT_EQ(model.code, HOPPER_OK) << model.problem;
    EXPECT_EQ(model.measured, 1);
    iterations += 4 * model.seconds_iteration;
    evaluations += model.seconds_evaluating;
  }
  constexpr double kMore = 1.0 + 1e-6;  // than rounding
  EXPECT_GT(answer.run.seconds_train, iterations * kMore);
  EXPECT_GT(answer.run.seconds_evaluate, evaluations * kMore);
}

// Steps are timed as the run would take them: in bf16 beside a rounded copy of the weights.
TEST(Explain, TimesThePrecisionOfTheRun) {
  const PackedTable train{{}};
  const Answer fp32 = Ask({ExplainedMlp(1, 400)}, train, nullptr, 1);
  const Answer bf16 = Ask({ExplainedMlp(1, 400)}, train, nullptr, 1, {}, 0.2, 4, "bf16");
  EXPECT_EQ(bf16.models[0].code, HOPPER_OK) << bf16.models[0].problem;
  EXPECT_EQ(bf16.models[0].measured, 1);
  EXPECT_EQ(bf16.models[0].bytes_state, fp32.models[0].bytes_state);
  // Evaluation is in fp32 for both, and may be what takes more.
  EXPECT_GE(bf16.models[0].bytes_task, fp32.models[0].bytes_task);
}

TEST(Explain, SegmentsWaitForTheSlowest) {
  const PackedTable train{{}};
  const Answer local = Ask({ExplainedMlp(1, 16)}, train, nullptr, 2);
  EXPECT_GE(local.run.seconds_wait, local.run.seconds_train) << "one model on two workers";
  EXPECT_NEAR(local.run.idle_share * local.run.seconds * 2, local.run.seconds_wait, 1e-9);
  const Answer segments = Ask({ExplainedMlp(1, 16)}, train, nullptr, 1, {7, 7, 8, 9});
  EXPECT_EQ(segments.run.n_workers, 3);
  // Four iterations of three statements, the last with two more to evaluate.
  const double work = segments.run.seconds_train + segments.run.seconds_evaluate;
  EXPECT_NEAR(segments.run.seconds, 14 * 0.5 + work, 1e-9) << "one model is on one segment";
  EXPECT_NEAR(segments.run.seconds_hop, 14 * 0.5 * 3, 1e-9);
  EXPECT_NEAR(segments.run.seconds_wait, 2 * work, 1e-9);
}

TEST(Explain, BadConfigurationsAreProblemsOfTheirOwn) {
  const PackedTable train{{}};
  Configuration bad = ExplainedMlp(2, 16);
  bad.compile = "loss='nothing'";
  const Answer answer = Ask({ExplainedMlp(1, 16), bad}, train, nullptr, 1);
  EXPECT_EQ(answer.models[0].code, HOPPER_OK);
  EXPECT_NE(answer.models[1].code, HOPPER_OK);
  EXPECT_NE(std::string(answer.models[1].problem), "");
}

// Beside the largest partition, with a copy of its weights and the sums of all that is evaluated;
// more threads of a model take more.
TEST(Explain, RefusesWhatTheRunRefuses) {
  const PackedTable train{{}};
  const std::vector<Configuration> configs = {ExplainedMlp(1, 16), ExplainedMlp(2, 4000)};
  for (const int threads_per_model : {1, 2}) {
    const Answer roomy =
        Ask(configs, train, nullptr, 2, {}, 1e-6, 4, "fp32", int64_t{1} << 30, threads_per_model);
    const int64_t weights = roomy.models[1].n_parameters * int64_t{sizeof(float)};
    const int64_t task = roomy.models[1].bytes_state + roomy.models[1].bytes_task;
    int refused = 0;
    for (const int64_t limit : {task + 100, task + weights + 100, task + weights + (64 << 10)}) {
      RunOptions options;
      options.iterations = 4;
      options.threads = 2;
      options.threads_per_model = threads_per_model;
      options.memory_limit = limit;
      RunDriver run(RunDriver::Planned{}, options, train, nullptr);
      for (const Configuration& config : configs) run.AddConfig(config);
      run.Plan();
      const hopper_model_result planned = run.Result(2).raw;
      const bool failed = planned.status == HOPPER_MODEL_FAILED;
      const Answer answer =
          Ask(configs, train, nullptr, 2, {}, 1e-6, 4, "fp32", limit, threads_per_model);
      EXPECT_EQ(answer.models[0].code, HOPPER_OK) << answer.models[0].problem;
      EXPECT_EQ(answer.models[1].code != HOPPER_OK, failed) << limit - task;
      if (!failed) continue;
      ++refused;
      EXPECT_STREQ(answer.models[1].problem, planned.error);
      EXPECT_NE(std::string(answer.models[1].detail).find(" are free."), std::string::npos)
          << answer.models[1].detail;
      EXPECT_STREQ(answer.models[1].hint, "Lower batch_size, or raise hopper.memory_limit.");
    }
    EXPECT_EQ(refused, 2);
  }
}

// Kept weights and two tasks a model are promised, too.
TEST(Explain, MemoryOfModelsIsThatOfTheRun) {
  const PackedTable train{{}};
  const std::vector<Configuration> configs = {ExplainedMlp(1, 16), ExplainedMlp(2, 500),
                                              ExplainedMlp(3, 300)};
  RunOptions options;
  options.threads = 2;
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  for (const Configuration& config : configs) run.AddConfig(config);
  EXPECT_EQ(Ask(configs, train, nullptr, 2).run.bytes_models, run.Plan().bytes_models);
}

// The one that is timed last has as much as it would have in a run.
TEST(Explain, PlansOfOneKindTakeNothingFromTheNext) {
  const PackedTable train{{}};
  const char* fit = "batch_size=1, epochs=1";
  std::vector<Configuration> configs;
  for (int key = 1; key <= 8; ++key) configs.push_back(ExplainedMlp(key, 4000 + key, fit));
  const Answer roomy = Ask(configs, train, nullptr, 1, {}, 4.0);
  RunOptions options;
  options.threads = 1;
  options.iterations = 4;
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  run.AddConfig(configs.back());
  const hopper_data_plan plan = run.Plan();
  // Its second task is none that it needs alone.
  const int64_t limit = plan.bytes_models + plan.bytes_data;
  for (const Answer& answer : {roomy, Ask(configs, train, nullptr, 1, {}, 4.0, 4, "fp32", limit)}) {
    for (const hopper_explain_model& model : answer.models) {
      EXPECT_EQ(model.code, HOPPER_OK) << model.problem << " " << model.detail;
      EXPECT_EQ(model.measured, 1);
    }
  }
}

// Where data come in turns, the run takes no small tasks together.
TEST(Explain, DataThatComeInTurnsMakeMoreHops) {
  const PackedTable train{{}};
  const std::vector<Configuration> configs = {ExplainedMlp(1, 4, "batch_size=8, epochs=1")};
  const Answer resident = Ask(configs, train, nullptr, 1);
  const int64_t limit = resident.run.bytes_data + resident.run.bytes_models - 1;
  const Answer turns = Ask(configs, train, nullptr, 1, {}, 0.2, 4, "fp32", limit);
  EXPECT_EQ(turns.models[0].code, HOPPER_OK) << turns.models[0].problem;
  EXPECT_GT(turns.run.seconds_hop, resident.run.seconds_hop * 1.5);
}

TEST(Explain, WhatThereIsNoTimeForIsReckoned) {
  const PackedTable train{{}};
  const Answer answer = Ask({ExplainedMlp(1, 16), ExplainedMlp(2, 512), ExplainedMlp(3, 1024)},
                            train, nullptr, 1, {}, 1e-6);
  EXPECT_EQ(answer.models[0].measured, 1) << "the cheapest is timed in any case";
  // By their operations, whatever the first one took.
  EXPECT_EQ(answer.models[1].measured, 0);
  EXPECT_EQ(answer.models[2].measured, 0);
  EXPECT_GT(answer.models[2].seconds_step, answer.models[1].seconds_step);
  EXPECT_GT(answer.models[1].seconds_step, answer.models[0].seconds_step);
}

// It divides by the learning rate: with none its first step is not finite, and not timed.
TEST(Explain, TimesAllStepsOfFtrl) {
  const PackedTable train{{}};
  Configuration ftrl = ExplainedMlp(2, 400);
  ftrl.compile = "loss='sparse_categorical_crossentropy', optimizer='Ftrl'";
  const Answer answer = Ask({ftrl}, train, nullptr, 1);
  EXPECT_EQ(answer.models[0].measured, 1) << answer.models[0].problem;
  EXPECT_GT(answer.models[0].seconds_step, 0.0);
}

TEST(Explain, EndsWhenItIsFreed) {
  const PackedTable train{{}};
  const EventFd event_fd;
  const int32_t starts[] = {0};
  hopper_run_options options = {};
  options.num_iterations = options.metrics_compute_frequency = options.threads = 1;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  options.n_starts = 1;
  options.starts = starts;
  options.memory_limit = int64_t{1} << 33;
  options.event_fd = event_fd.fd();
  hopper_explain_costs costs = {};
  costs.seconds = 3600;
  hopper_error error = {};
  hopper_explain* explain = nullptr;
  ASSERT_EQ(Api().explain.create(&options, &train.desc(), nullptr, nullptr, nullptr, &costs,
                                 &explain, &error),
            0);
  const Configuration config = ExplainedMlp(1, 30000);
  hopper_config raw = {};
  raw.mst_key = 1;
  raw.model_arch = config.arch.data();
  raw.model_arch_size = config.arch.size();
  raw.compile_params = config.compile.c_str();
  raw.fit_params = config.fit.c_str();
  ASSERT_EQ(Api().explain.add_config(explain, &raw, &error), 0);
  ASSERT_EQ(Api().explain.start(explain, &error), 0);
  Api().explain.free(explain);
}

TEST(MakeExamples, FillEveryTypeWithinItsRange) {
  for (const ValueType type : {ValueType::kUint8, ValueType::kInt16, ValueType::kInt32,
                               ValueType::kInt64, ValueType::kFloat32, ValueType::kFloat64}) {
    const Partition data = MakeExamples(MakeDesc(type, {5}, {LabelKind::kArray, type, {3}}, 10), 4);
    EXPECT_EQ(data.n, 4);
    EXPECT_EQ(data.x.size(), 4U * 5U * static_cast<size_t>(TypeSize(type)));
    EXPECT_EQ(FindNonFinite(type, data.x.data(), 20), -1);
    EXPECT_EQ(FindNonFinite(type, data.y.data(), 12), -1);
  }
  const LabelsDesc classes = {LabelKind::kClass, ValueType::kInt16, {}, 3};
  const Partition data = MakeExamples(MakeDesc(ValueType::kFloat64, {5}, classes, 10), 4);
  const auto* labels = reinterpret_cast<const int16_t*>(data.y.data());
  EXPECT_EQ(std::vector<int16_t>(labels, labels + 4), std::vector<int16_t>({0, 1, 2, 0}));
}

}  // namespace
}  // namespace hopper
