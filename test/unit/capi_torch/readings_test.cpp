// Both libraries in one process, as the glue opens them: what one has read of configurations the
// other does not read again, and trains the same with it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capi_torch/core.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

template <typename Library>
hopper_readings ReadingsOf(const Library& library) {
  hopper_readings readings = {};
  hopper_error error = {};
  EXPECT_EQ(library.readings(&readings, &error), 0) << error.message;
  return readings;
}

// Layers, an optimizer, a rate that is reduced and metrics that are rows of tables.
Configuration OfManyKinds() {
  Configuration config;
  config.arch = KerasSequential(
      {KerasDense("first", 16, "gelu", "\"batch_input_shape\": [null, 20]"),
       KerasLayer("BatchNormalization", "norm", ""), KerasLayer("Dropout", "drop", "\"rate\": 0.2"),
       KerasDense("last", 3, "softmax")});
  config.compile =
      "loss='sparse_categorical_crossentropy', optimizer='Lion(learning_rate=0.003)', "
      "metrics=['accuracy', 'sparse_top_k_categorical_accuracy']";
  config.fit =
      "batch_size=8, epochs=1, "
      "callbacks=[ReduceLROnPlateau(monitor='loss', patience=0, min_delta=10)]";
  return config;
}

TEST(Readings, AProcessReadsAConfigurationOnce) {
  const PackedTable train{{}};
  const Configuration config = OfManyKinds();
  RunOptions options;
  options.iterations = 3;
  // Each library for itself.
  const int64_t before = ReadingsOf(Torch()).count;
  const ModelResult alone = TrainAll(options, {config}, train, nullptr).at(1);
  // Architecture, compile_params and fit_params, and what the first run of a process tries out.
  EXPECT_GE(ReadingsOf(Torch()).count, before + 3);

  const hopper_readings core = ReadingsOf(Core());
  EXPECT_EQ(Torch().share_readings(nullptr), 0);
  hopper_readings foreign = core;
  foreign.build = "another one";
  EXPECT_EQ(Torch().share_readings(&foreign), 0);
  EXPECT_NE(ReadingsOf(Torch()).store, core.store);
  ASSERT_EQ(Torch().share_readings(&core), 1);
  EXPECT_EQ(ReadingsOf(Torch()).store, core.store);

  hopper_config raw = {};
  raw.mst_key = 1;
  raw.model_arch = config.arch.data();
  raw.model_arch_size = config.arch.size();
  raw.compile_params = config.compile.c_str();
  raw.fit_params = config.fit.c_str();
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  ASSERT_EQ(Core().check_configs(&raw, 1, &train.desc(), nullptr, &rows, &error), 0)
      << error.message;
  for (int32_t i = 0; i < rows->n_rows; ++i) {
    EXPECT_STREQ(rows->cells[i * rows->n_columns + 1], "warning")
        << rows->cells[i * rows->n_columns + 3];
  }
  Core().rows_free(rows);
  const int64_t read = ReadingsOf(Core()).count;
  EXPECT_EQ(read, core.count + 3);

  int32_t keeps = 0;
  ASSERT_EQ(Core().keeps_best(raw.fit_params, &keeps, &error), 0);
  const ModelResult together = TrainAll(options, {config}, train, nullptr).at(1);
  EXPECT_EQ(together.digest, alone.digest) << "training by what the other library has read";
  EXPECT_EQ(together.weights, alone.weights);

  raw.weights = together.weights.data();
  raw.n_weights = static_cast<int64_t>(together.weights.size());
  hopper_evaluation* evaluation = nullptr;
  ASSERT_EQ(Api().evaluation.create(&raw, &train.desc(), 1, -1, &evaluation, &error), 0)
      << error.message;
  Api().evaluation.free(evaluation);
  EXPECT_EQ(ReadingsOf(Torch()).count, read) << "nobody has read anything again";
}

}  // namespace
}  // namespace hopper
