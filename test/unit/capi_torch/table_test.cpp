// libhopper_torch.so as the glue sees it: evaluation, prediction, and callers that make mistakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "capi_torch/core.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

Configuration Trainable() {
  Configuration config;
  config.arch = MlpJson(20, 16, 3);
  config.compile =
      "loss='sparse_categorical_crossentropy', optimizer='Adam(lr=0.01)', "
      "metrics=['accuracy']";
  config.fit = "batch_size=8, epochs=1";
  return config;
}

PackedTable::Options Held() {
  PackedTable::Options options;
  options.rows = 2500;
  options.rows_per_buffer = 1200;
  options.partitions = 3;
  options.seed = 5;
  return options;
}

TEST(Table, IsForOneVersionOnly) {
  EXPECT_EQ(hopper_torch_api_get(HOPPER_API_VERSION + 1), nullptr);
  EXPECT_EQ(hopper_torch_api_get(0), nullptr);
  EXPECT_EQ(Torch().version, HOPPER_API_VERSION);
  EXPECT_EQ(Torch().size, static_cast<int32_t>(sizeof(hopper_torch_api)));
}

TEST(Table, LacksNoFunction) {
  const auto* words = reinterpret_cast<void* const*>(&Torch().rows_free);
  const auto* end = reinterpret_cast<void* const*>(&Torch() + 1);
  for (; words != end; ++words) EXPECT_NE(*words, nullptr);
}

TEST(Table, SurvivesMissingArguments) {
  const hopper_engine_api& api = Api();
  hopper_error error = {};
  hopper_run* run = nullptr;
  hopper_event event = {};
  EXPECT_EQ(api.run.create(nullptr, nullptr, nullptr, &run, &error), HOPPER_INTERNAL);
  EXPECT_STREQ(error.message, "a required argument is missing");
  EXPECT_EQ(api.run.create(nullptr, nullptr, nullptr, nullptr, nullptr), HOPPER_INTERNAL);
  EXPECT_EQ(api.run.add_config(nullptr, nullptr, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.run.add_buffer(nullptr, nullptr, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.run.start(nullptr, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.run.next_event(nullptr, &event), 0);
  EXPECT_EQ(api.run.result(nullptr, 1, nullptr, &error), HOPPER_INTERNAL);
  api.run.cancel(nullptr);
  api.run.get_info(nullptr, nullptr);
  api.run.free(nullptr);
  EXPECT_EQ(api.evaluation.create(nullptr, nullptr, 1, -1, nullptr, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.evaluation.poll(nullptr, &event, &error), -1);
  api.evaluation.free(nullptr);
  EXPECT_EQ(api.predictor.plan(nullptr, nullptr, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.predictor.submit(nullptr, nullptr, 0, 0, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.predictor.room(nullptr, nullptr, &error), HOPPER_INTERNAL);
  EXPECT_EQ(api.predictor.take(nullptr, nullptr, nullptr, &error), -1);
  api.predictor.free(nullptr);
  Torch().rows_free(nullptr);
}

TEST(Table, RunsInTheWrongOrderAreErrors) {
  const PackedTable train{{}};
  RunDriver run({}, train, nullptr);
  run.AddConfig(Trainable());
  EXPECT_THROW(run.AddConfig(Trainable()), std::runtime_error);  // the same key
  EXPECT_THROW(run.AddBuffer(train.buffers()[0]), std::runtime_error);
  run.Start();
  EXPECT_THROW(run.Start(), std::runtime_error);
  EXPECT_THROW(run.Result(99), std::runtime_error);
  run.WaitToEnd();
}

TEST(Table, AnIncompleteTableIsNotTrained) {
  const PackedTable train{{}};
  PackedTable::Options more;
  more.rows = 300;
  const PackedTable larger{more};
  hopper_run_options options = {};
  options.num_iterations = 1;
  options.metrics_compute_frequency = 1;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  options.threads = 1;
  options.memory_limit = 1 << 30;
  options.event_fd = -1;
  hopper_run* run = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Api().run.create(&options, &larger.desc(), nullptr, &run, &error), 0);
  ASSERT_EQ(Api().run.add_buffer(run, &larger.buffers()[0], &error), 0);
  EXPECT_EQ(Api().run.start(run, &error), HOPPER_CORRUPT);
  EXPECT_STREQ(error.message, "partition 0 of \"synthetic_packed\" is not complete");
  Api().run.free(run);
}

TEST(Info, TellsWhatItIs) {
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Torch().build_info(&rows, &error), 0) << error.message;
  EXPECT_EQ(rows->n_columns, 2);
  bool torch = false;
  for (int i = 0; i < rows->n_rows; ++i) {
    ASSERT_NE(rows->cells[2 * i], nullptr);
    torch = torch || std::strcmp(rows->cells[2 * i], "libtorch") == 0;
  }
  EXPECT_TRUE(torch);
  Torch().rows_free(rows);
  ASSERT_EQ(Torch().gpus(&rows, &error), 0) << error.message;
  EXPECT_EQ(rows->n_columns, 5);
  Torch().rows_free(rows);
}

// The last validation event of a run, and evaluate() of its result with some threads.
TEST(Evaluation, EqualsTheRunsValidation) {
  const PackedTable train{{}};
  const PackedTable held{Held()};
  std::vector<hopper_event> events;
  const ModelResult model = TrainAll({}, {Trainable()}, train, &held, &events).at(1);
  hopper_event last = {};
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_METRICS && event.split == HOPPER_SPLIT_VALID) last = event;
  }
  ASSERT_EQ(last.iteration, 2);

  const Configuration text = Trainable();
  for (const bool by_state : {false, true}) {
    for (const int threads : {1, 3, 50}) {
      const EventFd event_fd;
      hopper_config config = {};
      config.mst_key = 1;
      config.model_arch = text.arch.data();
      config.model_arch_size = text.arch.size();
      config.compile_params = text.compile.c_str();
      config.fit_params = text.fit.c_str();
      if (by_state) {
        config.state = model.state.data();
        config.state_size = model.state.size();
      } else {
        config.weights = model.weights.data();
        config.n_weights = static_cast<int64_t>(model.weights.size());
      }
      hopper_evaluation* evaluation = nullptr;
      hopper_error error = {};
      ASSERT_EQ(Api().evaluation.create(&config, &held.desc(), threads, event_fd.fd(), &evaluation,
                                        &error),
                0)
          << error.message;
      for (const hopper_buffer& buffer : held.buffers()) {
        ASSERT_EQ(Api().evaluation.add_buffer(evaluation, &buffer, &error), 0);
      }
      ASSERT_EQ(Api().evaluation.start(evaluation, &error), 0) << error.message;
      hopper_event event = {};
      int done = 0;
      while ((done = Api().evaluation.poll(evaluation, &event, &error)) == 0) event_fd.Wait();
      ASSERT_EQ(done, 1) << error.message;
      EXPECT_EQ(event.loss, last.loss);
      EXPECT_EQ(event.metrics[0], last.metrics[0]);
      Api().evaluation.free(evaluation);
    }
  }
}

// A predictor for the test's data description.
class Predicting {
 public:
  Predicting(const std::string& arch, const std::vector<float>& weights,
             const hopper_data_desc& data, int threads, int64_t memory_limit = int64_t{1} << 30,
             const hopper_prediction_plan& plan = {2000, 64, 0},
             const hopper_predictor_api& api = Api().predictor)
      : api_(api), plan_(plan) {
    hopper_error error = {};
    const auto n = static_cast<int64_t>(weights.size());
    if (api_.create(arch.data(), arch.size(), n, &data, nullptr, threads, memory_limit,
                    event_fd_.fd(), &predictor_, &n_outputs_, &error) != 0) {
      throw std::runtime_error(error.message);
    }
    // In uneven pieces, which end within a weight.
    const int64_t most = n / 13 + 5;
    for (int64_t first = 0; first < n; first += most) {
      EXPECT_EQ(
          api_.add_weights(predictor_, weights.data() + first, std::min(most, n - first), &error),
          0)
          << error.message;
    }
    if (api_.plan(predictor_, &plan_, &error) != 0) {
      api_.free(predictor_);
      throw std::runtime_error(error.message);
    }
  }
  ~Predicting() { api_.free(predictor_); }
  Predicting(const Predicting&) = delete;
  Predicting& operator=(const Predicting&) = delete;

  void Submit(const uint8_t* x, size_t size, int32_t n) {
    hopper_error error = {};
    if (api_.submit(predictor_, x, size, n, &error) != 0) {
      throw std::runtime_error(error.message);
    }
  }
  // By way of the predictor's own memory.
  void SubmitInRoom(const void* x, size_t size, int32_t n) {
    hopper_error error = {};
    void* room = nullptr;
    ASSERT_EQ(api_.room(predictor_, &room, &error), 0) << error.message;
    std::memcpy(room, x, size);
    Submit(static_cast<const uint8_t*>(room), size, n);
  }
  // The oldest batch, waited for.
  std::vector<float> Take() {
    hopper_error error = {};
    const float* outputs = nullptr;
    int32_t n = 0;
    int done = 0;
    while ((done = api_.take(predictor_, &outputs, &n, &error)) == 0) event_fd_.Wait();
    if (done < 0) throw std::runtime_error(error.message);
    return {outputs, outputs + static_cast<int64_t>(n) * n_outputs_};
  }
  bool IsReady() {
    hopper_error error = {};
    const float* outputs = nullptr;
    int32_t n = 0;
    return api_.take(predictor_, &outputs, &n, &error) != 0;
  }
  int32_t n_outputs() const { return n_outputs_; }
  const hopper_prediction_plan& plan() const { return plan_; }

 private:
  const hopper_predictor_api& api_;
  EventFd event_fd_;
  hopper_prediction_plan plan_;
  hopper_predictor* predictor_ = nullptr;
  int32_t n_outputs_ = 0;
};

TEST(Predictor, AnswersInOrderAndAlikeRowByRow) {
  const PackedTable train{{}};
  const ModelResult model = TrainAll({}, {Trainable()}, train).at(1);
  Predicting predictor(Trainable().arch, model.weights, train.desc(), 3);
  EXPECT_EQ(predictor.n_outputs(), 3);
  const auto& buffers = train.buffers();
  for (const hopper_buffer& buffer : buffers) {
    predictor.Submit(static_cast<const uint8_t*>(buffer.x), buffer.x_size, buffer.n);
  }
  int right = 0;
  int all = 0;
  for (const hopper_buffer& buffer : buffers) {
    const std::vector<float> outputs = predictor.Take();
    ASSERT_EQ(outputs.size(), static_cast<size_t>(buffer.n) * 3);
    const auto* y = static_cast<const int16_t*>(buffer.y);
    for (int i = 0; i < buffer.n; ++i) {
      const float* row = outputs.data() + 3 * i;
      EXPECT_NEAR(row[0] + row[1] + row[2], 1.0, 1e-5);
      right += static_cast<int>(std::max_element(row, row + 3) - row == y[i]);
      ++all;
    }
    // One row at a time: within 1e-5.
    predictor.Submit(static_cast<const uint8_t*>(buffer.x), 20, 1);
  }
  EXPECT_GT(right, all * 8 / 10);  // in the order of their labels, or it would be a third
  for (const hopper_buffer& buffer : buffers) {
    predictor.SubmitInRoom(buffer.x, buffer.x_size, buffer.n);
  }
  std::vector<std::vector<float>> single;
  for (size_t i = 0; i < buffers.size(); ++i) single.push_back(predictor.Take());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const std::vector<float> many = predictor.Take();
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(single[i][k], many[k], 1e-5);
  }
}

// Which library trains is a matter of what wants libtorch, and of nothing that anybody sees.
TEST(Engines, BothLibrariesTrainTheSameBits) {
  const PackedTable train{{}};
  const PackedTable held{Held()};
  std::vector<ModelResult> models;
  for (const hopper_engine_api* engine : {&Core().engine, &Api()}) {
    const EngineScope scope(*engine);
    models.push_back(TrainAll({}, {Trainable()}, train, &held).at(1));
  }
  EXPECT_EQ(models[0].weights, models[1].weights);
  EXPECT_EQ(models[0].digest, models[1].digest);
}

TEST(Engines, WhatWantsLibtorchIsNamed) {
  const PackedTable train{{}};
  const auto wanting = [&train](const std::string& compile) {
    Configuration config = Trainable();
    config.compile = compile;
    hopper_config raw = {};
    raw.mst_key = 7;
    raw.model_arch = config.arch.data();
    raw.model_arch_size = config.arch.size();
    raw.compile_params = config.compile.c_str();
    hopper_rows* rows = nullptr;
    hopper_error error = {};
    EXPECT_EQ(Core().wants_libtorch(&raw, 1, &train.desc(), &rows, &error), 0) << error.message;
    const std::string text = rows->n_rows == 0 ? "" : rows->cells[0];
    Core().rows_free(rows);
    return text;
  };
  EXPECT_EQ(wanting(Trainable().compile), "");
  EXPECT_EQ(wanting("loss='expr: mean(square(y - p))', optimizer='sgd'"),
            "the loss of configuration 7");
  EXPECT_EQ(wanting("loss='mse', optimizer='sgd', metrics=['expr: mean(square(y - p))']"),
            "a metric of configuration 7");
}

// Which of them predicts is a matter of the layers, and of nothing that anybody sees.
TEST(Predictor, BothLibrariesGiveTheSameBits) {
  const PackedTable train{{}};
  const ModelResult model = TrainAll({}, {Trainable()}, train).at(1);
  const std::string arch = Trainable().arch;
  hopper_error error = {};
  hopper_rows* wanting = nullptr;
  ASSERT_EQ(Core().predictor_wants_libtorch(arch.data(), arch.size(), &train.desc(), nullptr,
                                            &wanting, &error),
            0)
      << error.message;
  EXPECT_EQ(wanting->n_rows, 0);
  Core().rows_free(wanting);
  const hopper_buffer& buffer = train.buffers().front();
  std::vector<std::vector<float>> outputs;
  for (const hopper_predictor_api* api : {&Core().engine.predictor, &Api().predictor}) {
    Predicting predictor(arch, model.weights, train.desc(), 2, int64_t{1} << 30, {2000, 64, 0},
                         *api);
    predictor.SubmitInRoom(buffer.x, buffer.x_size, buffer.n);
    outputs.push_back(predictor.Take());
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

TEST(Predictor, LayersWithoutAPlannedFormWantLibtorch) {
  const PackedTable train{{}};
  const std::string arch =
      KerasSequential({KerasLayer("Reshape", "square",
                                  R"("target_shape": [4, 5], "batch_input_shape": [null, 20])"),
                       KerasLayer("Permute", "turn", R"("dims": [2, 1])"),
                       KerasLayer("Flatten", "flat", ""), KerasDense("out", 3, "softmax")});
  hopper_error error = {};
  hopper_rows* wanting = nullptr;
  ASSERT_EQ(Core().predictor_wants_libtorch(arch.data(), arch.size(), &train.desc(), nullptr,
                                            &wanting, &error),
            0)
      << error.message;
  ASSERT_EQ(wanting->n_rows, 1);
  EXPECT_STREQ(wanting->cells[0], "layer \"turn\"");
  Core().rows_free(wanting);
  const std::vector<float> weights(20 * 3 + 3, 0.25F);
  const hopper_buffer& buffer = train.buffers().front();
  Predicting by_torch(arch, weights, train.desc(), 1);
  by_torch.SubmitInRoom(buffer.x, buffer.x_size, buffer.n);
  for (const float share : by_torch.Take()) EXPECT_NEAR(share, 1.0 / 3, 1e-6);
  Predicting by_core(arch, weights, train.desc(), 1, int64_t{1} << 30, {2000, 64, 0},
                     Core().engine.predictor);
  by_core.SubmitInRoom(buffer.x, buffer.x_size, buffer.n);
  EXPECT_THROW(by_core.Take(), std::runtime_error);
}

TEST(Predictor, RefusesWhatDoesNotFit) {
  const PackedTable train{{}};
  const ModelResult model = TrainAll({}, {Trainable()}, train).at(1);
  std::vector<float> few(model.weights.begin(), model.weights.end() - 1);
  EXPECT_THROW(Predicting(Trainable().arch, few, train.desc(), 1), std::runtime_error);
  EXPECT_THROW(Predicting(MlpJson(21, 16, 3), model.weights, train.desc(), 1), std::runtime_error);
  EXPECT_THROW(Predicting("nonsense", model.weights, train.desc(), 1), std::runtime_error);
  Predicting predictor(Trainable().arch, model.weights, train.desc(), 1);
  const std::vector<uint8_t> x(40);
  EXPECT_THROW(predictor.Submit(x.data(), 39, 2), std::runtime_error);
  EXPECT_THROW(predictor.Submit(x.data(), 0, 0), std::runtime_error);
}

TEST(Predictor, PlansWithinItsMemory) {
  const std::string arch =
      KerasSequential({KerasDense("first", 128, "relu", "\"batch_input_shape\": [null, 784]"),
                       KerasDense("last", 10, "softmax")});
  PackedTable::Options options;
  options.x_shape = {784};
  options.rows = 4;
  const PackedTable table{options};
  std::vector<float> weights(784 * 128 + 128 + 1280 + 10);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i * 31 % 101) * 0.0002F - 0.01F;
  }
  // Row r of a batch is row r % 30 of these.
  constexpr size_t kRows = 30;
  std::vector<std::vector<float>> expected;
  int32_t rows = 0;
  for (int64_t limit = 420000; limit < (int64_t{1} << 30); limit *= 4) {
    Predicting predictor(arch, weights, table.desc(), 4, limit);
    const hopper_prediction_plan& plan = predictor.plan();
    EXPECT_LE(plan.bytes, limit);
    EXPECT_GE(plan.rows, rows);
    rows = plan.rows;
    std::vector<uint8_t> x(784 * static_cast<size_t>(rows));
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<uint8_t>((i / 784 % kRows + 1) * (i % 784) % 251);
    }
    for (int i = 0; i < plan.batches; ++i) predictor.Submit(x.data(), x.size(), rows);
    EXPECT_THROW(predictor.Submit(x.data(), x.size(), rows), std::runtime_error);
    for (int i = 0; i < plan.batches; ++i) {
      const std::vector<float> outputs = predictor.Take();
      for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
        const std::vector<float> row(outputs.begin() + 10 * r, outputs.begin() + 10 * (r + 1));
        if (r == expected.size() && r < kRows) expected.push_back(row);
        for (size_t k = 0; k < row.size(); ++k) {
          ASSERT_NEAR(row[k], expected[r % kRows][k], 1e-5) << rows << " rows, row " << r;
        }
      }
    }
  }
  EXPECT_EQ(rows, 2000);
  ASSERT_EQ(expected.size(), kRows);
  EXPECT_NE(expected[0], expected[1]);
  EXPECT_THROW(Predicting(arch, weights, table.desc(), 1, 410000), std::runtime_error);
}

TEST(Predictor, AnswersOneSmallExampleAtOnce) {
  PackedTable::Options options;
  options.x_shape = {784};
  options.rows = 4;
  const PackedTable table{options};
  std::vector<uint8_t> x(784);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(7 * i);
  for (const int units : {16, 4096}) {
    const std::string arch =
        KerasSequential({KerasDense("first", units, "relu", "\"batch_input_shape\": [null, 784]"),
                         KerasDense("last", 10, "softmax")});
    std::vector<float> weights(static_cast<size_t>(784 * units + units + units * 10 + 10));
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) * 0.001F;
    Predicting batches(arch, weights, table.desc(), 1);
    batches.Submit(x.data(), x.size(), 1);
    const std::vector<float> expected = batches.Take();
    Predicting single(arch, weights, table.desc(), 1, int64_t{1} << 30, {1, 1, 0});
    for (int i = 0; i < 3; ++i) {
      single.Submit(x.data(), x.size(), 1);
      EXPECT_EQ(single.Take(), expected);
    }
    if (units > 16) continue;  // a thread's
    single.Submit(x.data(), x.size(), 1);
    EXPECT_TRUE(single.IsReady());
    EXPECT_FALSE(single.IsReady());
  }
}

int asks_left = 0;

// By the thread that asks for it, which then looks between the layers itself.
TEST(Predictor, ACancelIsSaidAsSuchAtWhicheverLook) {
  PackedTable::Options options;
  options.x_shape = {4};
  options.rows = 4;
  const PackedTable table{options};
  const std::string arch =
      KerasSequential({KerasDense("first", 2, "relu", "\"batch_input_shape\": [null, 4]"),
                       KerasDense("last", 2, "softmax")});
  const std::vector<float> weights(16, 0.5F);
  const std::vector<uint8_t> x = {1, 2, 3, 4};
  Predicting single(arch, weights, table.desc(), 1, int64_t{1} << 30, {1, 1, 0});
  const auto answer = [&] {
    single.Submit(x.data(), x.size(), 1);
    return single.Take();
  };
  const std::vector<float> expected = answer();
  int cancelled = 0;
  for (int at = 0; at < 10; ++at) {
    asks_left = at;
    Torch().ask_for_cancel([] { return asks_left-- == 0 ? 1 : 0; });
    try {
      EXPECT_EQ(answer(), expected);
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "the statement was cancelled");
      ++cancelled;
    }
    Torch().ask_for_cancel(nullptr);
    EXPECT_EQ(answer(), expected);
  }
  EXPECT_GT(cancelled, 1);
  EXPECT_LT(cancelled, 10);
}

// bench/predict.py says how fast; many batches in flight, on two threads, change no output.
TEST(Predictor, ManyBatchesOnTwoThreadsGiveTheOutputsOfOne) {
  const std::string arch =
      KerasSequential({KerasDense("first", 128, "relu", "\"batch_input_shape\": [null, 784]"),
                       KerasDense("last", 10, "softmax")});
  PackedTable::Options options;
  options.x_shape = {784};
  options.rows = 4;
  const PackedTable table{options};
  std::vector<float> weights(784 * 128 + 128 + 1280 + 10);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) * 0.001F;
  constexpr int kBatch = 200;
  constexpr int kBatches = 50;
  std::vector<std::vector<uint8_t>> batches(kBatches, std::vector<uint8_t>(784 * kBatch));
  for (size_t b = 0; b < batches.size(); ++b) {
    for (size_t i = 0; i < batches[b].size(); ++i) {
      batches[b][i] = static_cast<uint8_t>(i * (b + 3));
    }
  }
  std::vector<std::vector<float>> expected;
  Predicting one(arch, weights, table.desc(), 1);
  for (const std::vector<uint8_t>& x : batches) {
    one.Submit(x.data(), x.size(), kBatch);
    expected.push_back(one.Take());
  }
  EXPECT_NE(expected[0], expected[1]);
  Predicting two(arch, weights, table.desc(), 2);
  for (const std::vector<uint8_t>& x : batches) two.Submit(x.data(), x.size(), kBatch);
  for (const std::vector<float>& outputs : expected) EXPECT_EQ(two.Take(), outputs);
}

}  // namespace
}  // namespace hopper
