// Every optimizer and schedule in a run: bits of sequential SGD, nothing lost between visits and
// warm starts, and what becomes of averaged weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/sequential_loop.h"
#include "model/network/network.h"
#include "optim/optimizer_type.h"
#include "state/state.h"
#include "support/keras_models.h"
#include "support/run_driver.h"
#include "train/trainer.h"

namespace hopper {
namespace {

const std::vector<std::string>& OptimizerTexts() {
  static const std::vector<std::string> optimizers = {
      "AdamW(learning_rate=0.01, weight_decay=0.1)",
      "Adagrad(learning_rate=0.05)",
      "Adadelta(learning_rate=1.0)",
      "Adamax(learning_rate=0.01)",
      "Nadam(learning_rate=0.01)",
      "Ftrl(learning_rate=0.05, learning_rate_power=-0.4, l1_regularization_strength=0.001)",
      "Lion(learning_rate=0.002, weight_decay=0.1)",
      "Lamb(learning_rate=0.02, weight_decay=0.1)",
      "RMSprop(learning_rate=0.005, momentum=0.9, centered=True)",
      "SGD(learning_rate=0.05, global_clipnorm=0.5, use_ema=True, ema_momentum=0.9)",
      "Adam(learning_rate=0.01, use_ema=True, ema_overwrite_frequency=7)",
      "SGD(learning_rate=CosineDecay(0.0, decay_steps=20, warmup_target=0.1, warmup_steps=9))",
      "Nadam(learning_rate=ExponentialDecay(0.01, decay_steps=10, decay_rate=0.5))",
      "SGD(learning_rate=PiecewiseConstantDecay([8, 21], [0.1, 0.05, 0.01]), momentum=0.9)",
  };
  return optimizers;
}

std::vector<Configuration> Configurations() {
  std::vector<Configuration> configs;
  for (const std::string& optimizer : OptimizerTexts()) {
    Configuration config;
    config.key = static_cast<int32_t>(configs.size()) + 1;
    config.arch = MlpJson(20, 24, 3);
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='" + optimizer + "'";
    config.fit = "batch_size=10, epochs=2";
    configs.push_back(config);
  }
  return configs;
}

RunOptions OptimizerOptions(int iterations) {
  RunOptions options;
  options.iterations = iterations;
  options.starts = {0, 1};
  return options;
}

TEST(Optimizers, AreAllHere) {
  for (const OptimizerType& type : OptimizerTypes()) {
    const std::string call = std::string(type.name) + "(";
    EXPECT_TRUE(std::any_of(
        OptimizerTexts().begin(), OptimizerTexts().end(),
        [&](const std::string& text) { return text.compare(0, call.size(), call) == 0; }))
        << type.name;
  }
}

TEST(Optimizers, EqualSequentialSgd) {
  const PackedTable train{{}};
  const auto results = TrainAll(OptimizerOptions(2), Configurations(), train);
  for (const Configuration& config : Configurations()) {
    EXPECT_EQ(results.at(config.key).raw.status, HOPPER_MODEL_DONE) << config.compile;
    EXPECT_EQ(results.at(config.key).digest,
              SequentialDigest(config, OptimizerOptions(2), train, NumericsClass("fp32"), true))
        << config.compile;
  }
}

// Step counters, momentum products, schedules and averages go on where they were.
TEST(Optimizers, GoOnAfterAWarmStart) {
  const PackedTable train{{}};
  const auto whole = TrainAll(OptimizerOptions(3), Configurations(), train);
  const auto first = TrainAll(OptimizerOptions(1), Configurations(), train);
  std::vector<Configuration> configs = Configurations();
  for (Configuration& config : configs) config.state = first.at(config.key).state;
  const auto second = TrainAll(OptimizerOptions(2), configs, train);
  for (const Configuration& config : configs) {
    EXPECT_EQ(second.at(config.key).digest, whole.at(config.key).digest) << config.compile;
    EXPECT_EQ(second.at(config.key).weights, whole.at(config.key).weights) << config.compile;
  }
}

Configuration WithOptimizer(const std::string& optimizer) {
  Configuration config;
  config.arch = MlpJson(20, 24, 3);
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='" + optimizer + "'";
  config.fit = "batch_size=10";
  return config;
}

const hopper_event* LastMetrics(const std::vector<hopper_event>& events, hopper_split split) {
  const hopper_event* last = nullptr;
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_METRICS && event.split == split && event.running == 0) {
      last = &event;
    }
  }
  return last;
}

// Evaluates a configuration's weights or state through the C functions.
hopper_event EvaluateAll(const Configuration& config, const PackedTable& table) {
  hopper_config raw = {};
  raw.model_arch = config.arch.data();
  raw.model_arch_size = config.arch.size();
  raw.compile_params = config.compile.c_str();
  raw.fit_params = config.fit.c_str();
  raw.weights = config.weights.empty() ? nullptr : config.weights.data();
  raw.n_weights = static_cast<int64_t>(config.weights.size());
  raw.state = config.state.empty() ? nullptr : config.state.data();
  raw.state_size = config.state.size();
  const EventFd event_fd;
  hopper_evaluation* evaluation = nullptr;
  hopper_error error = {};
  EXPECT_EQ(Api().evaluation.create(&raw, &table.desc(), 2, event_fd.fd(), &evaluation, &error), 0)
      << error.message;
  for (const hopper_buffer& buffer : table.buffers(HOPPER_SPLIT_VALID)) {
    EXPECT_EQ(Api().evaluation.add_buffer(evaluation, &buffer, &error), 0) << error.message;
  }
  EXPECT_EQ(Api().evaluation.start(evaluation, &error), 0) << error.message;
  hopper_event event = {};
  while (Api().evaluation.poll(evaluation, &event, &error) == 0) event_fd.Wait();
  Api().evaluation.free(evaluation);
  return event;
}

// The weights that are handed out, and that evaluation sees, are the averages; training goes on
// from the state, which has both.
TEST(Optimizers, AveragedWeightsAreHandedOut) {
  const PackedTable train{{}};
  const std::string plain = "SGD(learning_rate=0.5, momentum=0.9)";
  const std::string averaged = "SGD(learning_rate=0.5, momentum=0.9, use_ema=True)";
  std::vector<hopper_event> events;
  const auto a =
      TrainAll(OptimizerOptions(2), {WithOptimizer(averaged)}, train, &train, &events).at(1);
  std::vector<hopper_event> plain_events;
  const auto b =
      TrainAll(OptimizerOptions(2), {WithOptimizer(plain)}, train, &train, &plain_events).at(1);
  const auto spec = ParseModel(WithOptimizer(plain).arch, nullptr);
  const ModelState with = ReadState(StateLayoutOf(*spec), a.state.data(), a.state.size());
  const ModelState without = ReadState(StateLayoutOf(*spec), b.state.data(), b.state.size());
  // Averaging does not change the training.
  ASSERT_EQ(with.params.size(), without.params.size());
  EXPECT_EQ(
      std::memcmp(with.params.data(), without.params.data(), with.params.size() * sizeof(float)),
      0);
  EXPECT_NE(a.weights, b.weights);
  // What is handed out is the last slot, and weights that are not trained, which have none.
  std::vector<float> average;
  for (const WeightSpec& weight : spec->weights) {
    const float* values = weight.slot_offset < 0
                              ? with.params.data() + weight.offset
                              : with.slots.data() + spec->slot_size + weight.slot_offset;
    average.insert(average.end(), values, values + weight.size());
  }
  EXPECT_EQ(a.weights, average);
  // The metrics of the last iteration are those of the weights that are handed out.
  Configuration evaluated = WithOptimizer(plain);
  evaluated.weights = a.weights;
  const hopper_event again = EvaluateAll(evaluated, train);
  Configuration from_state = WithOptimizer(averaged);
  from_state.state = a.state;
  EXPECT_EQ(EvaluateAll(from_state, train).loss, again.loss);
  ASSERT_NE(LastMetrics(events, HOPPER_SPLIT_VALID), nullptr);
  EXPECT_EQ(LastMetrics(events, HOPPER_SPLIT_VALID)->loss, again.loss);
  EXPECT_NE(LastMetrics(plain_events, HOPPER_SPLIT_VALID)->loss, again.loss);
}

// As many slots as before, and other ones: they are not mixed up.
TEST(Optimizers, OtherSlotsStartAtZero) {
  const PackedTable train{{}};
  Configuration config = WithOptimizer("RMSprop(centered=True)");
  config.state = TrainAll(OptimizerOptions(1), {config}, train).at(1).state;
  config.compile = WithOptimizer("RMSprop(momentum=0.5)").compile;
  std::vector<hopper_event> events;
  TrainAll(OptimizerOptions(1), {config}, train, nullptr, &events);
  std::string warning;
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_WARNING) warning = event.message;
  }
  EXPECT_EQ(warning, "configuration 1 changed the arguments of its optimizer RMSprop");
}

}  // namespace
}  // namespace hopper
