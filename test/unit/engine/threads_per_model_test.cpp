// Several threads share one model's arithmetic: a numerics class of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/keras_models.h"
#include "support/repetitions.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

// Large enough for its products and convolutions to be shared: 16x16 pixels, strides, a dense layer
// of more weights than our own kernel multiplies by itself.
std::string LargeJson() {
  return KerasSequential(
      {KerasLayer("Conv2D", "first",
                  R"("batch_input_shape": [null, 16, 16, 2], "filters": 24, "kernel_size": [3, 3],
                     "padding": "same", "activation": "relu")"),
       KerasLayer("BatchNormalization", "norm", ""),
       KerasLayer("Conv2D", "strided",
                  R"("filters": 32, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same",
                     "activation": "tanh")"),
       KerasLayer("Conv2D", "large_tiles",
                  R"("filters": 16, "kernel_size": [3, 3], "padding": "same")"),
       KerasLayer("Conv2D", "small_tiles", R"("filters": 16, "kernel_size": [3, 3])"),
       KerasLayer("Conv2D", "direct", R"("filters": 12, "kernel_size": [2, 2])"),
       KerasLayer("Flatten", "flat", ""), KerasLayer("Dropout", "drop", "\"rate\": 0.25"),
       KerasDense("wide", 256, "relu"), KerasDense("narrow", 64, "relu"),
       KerasDense("last", 3, "softmax")});
}

PackedTable::Options ThreadedImages() {
  PackedTable::Options options;
  options.x_shape = {16, 16, 2};
  options.rows = Repetitions(110);
  options.partitions = 3;
  return options;
}

Configuration Large(int32_t key) {
  Configuration config;
  config.key = key;
  config.arch = LargeJson();
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=0.01, momentum=0.9)'";
  config.fit = "batch_size=16, epochs=1";
  return config;
}

RunOptions ThreadedOptions(int threads, int threads_per_model) {
  RunOptions options;
  options.threads = threads;
  options.threads_per_model = threads_per_model;
  options.starts = {0, 1, 2};
  return options;
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0.0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

TEST(ThreadsPerModel, GiveTheSameBitsAgainAndNearlyThoseOfOneThread) {
  const PackedTable train{ThreadedImages()};
  const std::vector<Configuration> both = {Large(1), Large(2)};
  const auto one = TrainAll(ThreadedOptions(2, 1), both, train);
  for (const int members : {2, 3}) {
    const auto first = TrainAll(ThreadedOptions(members, members), both, train);
    const auto again = TrainAll(ThreadedOptions(2 * members, members), both, train);
    for (const int key : {1, 2}) {
      EXPECT_EQ(first.at(key).raw.status, HOPPER_MODEL_DONE) << first.at(key).raw.error;
      EXPECT_EQ(first.at(key).digest, again.at(key).digest) << members;
      EXPECT_NE(first.at(key).digest, one.at(key).digest) << "its class names its threads";
      EXPECT_LT(LargestDifference(first.at(key).weights, one.at(key).weights), 1e-3);
    }
  }
}

std::vector<float> WeightsOf(const Configuration& config, int members, const std::string& precision,
                             const PackedTable& train) {
  RunOptions options = ThreadedOptions(members, members);
  options.precision = precision;
  const auto models = TrainAll(options, {config}, train);
  EXPECT_EQ(models.at(1).raw.status, HOPPER_MODEL_DONE) << models.at(1).raw.error;
  return models.at(1).weights;
}

// bfloat16 products, pooling, batch norm and optimizers: whoever computes a number adds the same
// terms in the same order.
TEST(ThreadsPerModel, GiveTheBitsOfOneThreadInBf16) {
  const PackedTable train{ThreadedImages()};
  const std::vector<float> one = WeightsOf(Large(1), 1, "bf16", train);
  for (const int members : {2, 3, 5}) {
    EXPECT_EQ(WeightsOf(Large(1), members, "bf16", train), one) << members;
  }
}

// Nothing here but what is named is large enough to be shared.
TEST(ThreadsPerModel, GiveTheBitsOfOneThreadInPoolsNormsAndOptimizers) {
  PackedTable::Options images;
  images.x_shape = {48, 48, 3};
  images.rows = Repetitions(100);
  images.partitions = 3;
  const PackedTable train{images};
  Configuration config = Large(1);
  config.arch = KerasSequential(
      {KerasLayer("BatchNormalization", "first", R"("batch_input_shape": [null, 48, 48, 3])"),
       KerasLayer("MaxPooling2D", "most", R"("pool_size": [3, 3], "strides": [1, 1])"),
       KerasLayer("BatchNormalization", "second", ""),
       KerasLayer("AveragePooling2D", "mean", R"("pool_size": [4, 4], "strides": [2, 2])"),
       KerasLayer("MaxPooling2D", "last_pool", R"("pool_size": [11, 11])"),
       KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "softmax")});
  config.fit = "batch_size=32, epochs=1";
  const std::vector<float> one = WeightsOf(config, 1, "fp32", train);
  for (const int members : {2, 3, 5}) {
    EXPECT_EQ(WeightsOf(config, members, "fp32", train), one) << members;
  }
}

// Equal bits with the same number of threads, and nearly those of one thread. `exact`: those of
// one thread, whatever the number.
void ExpectSharedSteps(const std::string& arch, const PackedTable& train,
                       const std::string& precision, bool exact) {
  Configuration config = Large(1);
  config.arch = arch;
  config.fit = "batch_size=32, epochs=1";
  const std::vector<float> one = WeightsOf(config, 1, precision, train);
  for (const int members : {2, 3}) {
    SCOPED_TRACE(testing::Message() << members << " threads, " << precision);
    const std::vector<float> shared = WeightsOf(config, members, precision, train);
    RunOptions more = ThreadedOptions(2 * members, members);
    more.precision = precision;
    EXPECT_EQ(TrainAll(more, {config}, train).at(1).weights, shared);
    if (exact) {
      EXPECT_EQ(shared, one);
    } else {
      EXPECT_LT(LargestDifference(shared, one), 1e-3);
    }
  }
}

// Large enough for their products and steps to be shared.
TEST(ThreadsPerModel, GiveTheSameBitsAgainInSeriesAndAttention) {
  PackedTable::Options series;
  series.x_shape = {24, 32};
  series.rows = Repetitions(100);
  series.partitions = 3;
  const PackedTable train{series};
  const std::string arch = R"({"class_name": "Functional", "keras_version": "2.15.0", "config": {
      "name": "series", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"name": "x", "batch_input_shape": [null, 24, 32]}},
      {"class_name": "LSTM", "name": "lstm", "inbound_nodes": [[["x", 0, 0, {}]]],
       "config": {"name": "lstm", "units": 96, "return_sequences": true}},
      {"class_name": "GRU", "name": "gru", "inbound_nodes": [[["lstm", 0, 0, {}]]],
       "config": {"name": "gru", "units": 96, "return_sequences": true, "reset_after": true}},
      {"class_name": "LayerNormalization", "name": "norm", "inbound_nodes": [[["gru", 0, 0, {}]]],
       "config": {"name": "norm"}},
      {"class_name": "MultiHeadAttention", "name": "heads",
       "inbound_nodes": [[["norm", 0, 0, {"value": ["norm", 0, 0]}]]],
       "config": {"name": "heads", "num_heads": 4, "key_dim": 24}},
      {"class_name": "SimpleRNN", "name": "rnn", "inbound_nodes": [[["heads", 0, 0, {}]]],
       "config": {"name": "rnn", "units": 80}},
      {"class_name": "Dense", "name": "last", "inbound_nodes": [[["rnn", 0, 0, {}]]],
       "config": {"name": "last", "units": 3, "activation": "softmax"}}],
      "input_layers": [["x", 0, 0]], "output_layers": [["last", 0, 0]]}})";
  for (const char* precision : {"fp32", "bf16"}) ExpectSharedSteps(arch, train, precision, false);
}

TEST(ThreadsPerModel, GiveTheSameBitsAgainInConvolutionsByColumnsAndTransposedOnes) {
  const PackedTable train{ThreadedImages()};
  const auto conv = [](const std::string& kind, const std::string& name, const std::string& more) {
    return KerasLayer(kind, name, R"("padding": "same", "activation": "relu", )" + more);
  };
  const std::string arch = KerasSequential(
      {conv("Conv2D", "pixels",
            R"("batch_input_shape": [null, 16, 16, 2], "filters": 64, "kernel_size": 1)"),
       conv("Conv2D", "large", R"("filters": 128, "kernel_size": 3, "strides": 2)"),
       conv("Conv2DTranspose", "transposed", R"("filters": 24, "kernel_size": 3, "strides": 2)"),
       KerasLayer("GlobalAveragePooling2D", "mean", ""), KerasDense("last", 3, "softmax")});
  for (const char* precision : {"fp32", "bf16"}) ExpectSharedSteps(arch, train, precision, false);
}

// A team shares images and, for a kernel's gradient, channels: no sum is cut.
TEST(ThreadsPerModel, GiveTheBitsOfOneThreadInDepthwiseConvolutions) {
  PackedTable::Options images;
  images.x_shape = {24, 20, 40};
  images.rows = Repetitions(100);
  images.partitions = 3;
  const PackedTable train{images};
  const std::string arch = KerasSequential(
      {KerasLayer("DepthwiseConv2D", "first",
                  R"("batch_input_shape": [null, 24, 20, 40], "kernel_size": 3, "padding": "same",
                     "activation": "relu")"),
       KerasLayer("Conv2D", "groups",
                  R"("filters": 40, "groups": 40, "kernel_size": [5, 3], "strides": [2, 1])"),
       KerasLayer("AveragePooling2D", "mean", R"("pool_size": [10, 18])"),
       KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "softmax")});
  for (const char* precision : {"fp32", "bf16"}) ExpectSharedSteps(arch, train, precision, true);
}

TEST(ThreadsPerModel, AreInTheNumericsClass) {
  const PackedTable train{ThreadedImages()};
  const RunDriver one(ThreadedOptions(2, 0), train, nullptr);
  RunDriver two(ThreadedOptions(4, 2), train, nullptr);
  EXPECT_NE(std::string(two.Info().numerics_class).find(", 2 threads"), std::string::npos);
  EXPECT_EQ(two.Info().n_workers, 2);
  const RunDriver odd(ThreadedOptions(5, 2), train, nullptr);
}

TEST(ThreadsPerModel, AnotherNumberIsAnotherClass) {
  const PackedTable train{ThreadedImages()};
  Configuration config = Large(1);
  config.state = TrainAll(ThreadedOptions(2, 1), {config}, train).at(1).state;
  try {
    TrainAll(ThreadedOptions(2, 2), {config}, train);
    FAIL() << "a state of another class was taken";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "state of configuration 1 is of another numerics class");
  }
  RunOptions mixed = ThreadedOptions(2, 2);
  mixed.mix_numerics = 1;
  EXPECT_EQ(TrainAll(mixed, {config}, train).at(1).raw.status, HOPPER_MODEL_DONE);
}

TEST(ThreadsPerModel, MustFitTheThreads) {
  const PackedTable train{ThreadedImages()};
  try {
    const RunDriver run(ThreadedOptions(2, 3), train, nullptr);
    FAIL() << "three threads of two";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "threads_per_model must not be more than threads");
  }
}

}  // namespace
}  // namespace hopper
