// Runs in bf16: the promises of fp32 hold within their class, and the models are as good.
#include "kernels/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "engine/sequential_loop.h"
#include "engine/small_runs.h"
#include "kernels/kernels.h"
#include "train/trainer.h"

namespace hopper {
namespace {

RunOptions Bf16Options(int threads, const std::string& precision = "bf16") {
  RunOptions options = SmallRun(threads);
  options.precision = precision;
  return options;
}

std::vector<Configuration> Six() {
  return AllConfigurations(
      {CnnJson(64, 3), CnnJson(57, 3)},  // enough for products of rounded operands
      {"SGD(learning_rate=0.005, momentum=0.9)", "RMSprop(learning_rate=0.002)",
       "Adam(learning_rate=0.004, clipnorm=1.0, use_ema=True, ema_overwrite_frequency=5)"},
      {"batch_size=13, epochs=2"});
}

TEST(Bf16Run, EqualsSequentialSgdForAnyThreads) {
  const PackedTable train{SmallImages()};
  const auto one = DigestsOf(TrainAll(Bf16Options(1), Six(), train));
  for (const Configuration& config : Six()) {
    EXPECT_EQ(one.at(config.key),
              SequentialDigest(config, Bf16Options(1), train, NumericsClass("bf16"), true))
        << config.compile;
  }
  EXPECT_EQ(DigestsOf(TrainAll(Bf16Options(3), Six(), train)), one);
  EXPECT_NE(DigestsOf(TrainAll(Bf16Options(2, "fp32"), Six(), train)), one);
}

std::vector<float> TrainedMlp(const std::string& precision, int units, int batch) {
  PackedTable::Options numbers;
  numbers.x_shape = {8};
  numbers.rows = 200;
  const PackedTable train{numbers};
  Configuration config;
  config.key = 1;
  config.arch =
      KerasSequential({KerasDense("a", units, "relu", R"("batch_input_shape": [null, 8])"),
                       KerasDense("b", units, "relu"), KerasDense("c", 3, "softmax")});
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam(learning_rate=0.01)'";
  config.fit = "batch_size=" + std::to_string(batch) + ", epochs=1";
  RunOptions options;
  options.precision = precision;
  const auto models = TrainAll(options, {config}, train);
  EXPECT_EQ(models.at(1).raw.status, HOPPER_MODEL_DONE) << models.at(1).raw.error;
  return models.at(1).weights;
}

// Rounding and packing the operands of a small product takes longer than the product: networks that
// have no others are trained as in fp32, in the same time and to the same bits.
TEST(Bf16Run, NetworksOfSmallProductsAreThoseOfFp32) {
  EXPECT_EQ(TrainedMlp("bf16", 10, 8), TrainedMlp("fp32", 10, 8));
  EXPECT_EQ(TrainedMlp("bf16", 16, 32), TrainedMlp("fp32", 16, 32));
  EXPECT_NE(TrainedMlp("bf16", 128, 100), TrainedMlp("fp32", 128, 100));
}

TEST(Bf16Run, SurvivesAWarmStartButNotInAnotherPrecision) {
  const PackedTable train{SmallImages()};
  const auto all = DigestsOf(TrainAll(Bf16Options(2), Six(), train));
  RunOptions options = Bf16Options(2);
  options.iterations = 1;
  const auto first = TrainAll(options, Six(), train);
  std::vector<Configuration> configs = Six();
  for (Configuration& config : configs) config.state = first.at(config.key).state;
  options.iterations = 2;
  EXPECT_EQ(DigestsOf(TrainAll(options, configs, train)), all);

  options.precision = "fp32";
  {
    RunDriver run(options, train, nullptr);
    EXPECT_THROW(run.AddConfig(configs[0]), std::runtime_error);
    EXPECT_STREQ(run.error().message, "state of configuration 1 is of another numerics class");
    EXPECT_NE(std::string(run.error().detail).find(NumericsClass("bf16")), std::string::npos);
  }
  options.mix_numerics = 1;
  EXPECT_EQ(TrainAll(options, {configs[0]}, train).at(1).raw.status, HOPPER_MODEL_DONE);
}

TEST(Bf16Run, PrecisionsThatAreRefused) {
  const PackedTable train{SmallImages()};
  for (const char* precision : {"bf15", "", "tf32", "BF16", "fp16"}) {
    EXPECT_THROW(RunDriver(Bf16Options(1, precision), train, nullptr), std::runtime_error)
        << precision;
  }
}

// test/unit/CMakeLists.txt runs these tests again with libtorch, and with it our kernels, kept from
// the processor's bfloat16 instructions.
TEST(Bf16Run, TellsWhereItIsEmulated) {
  const char* limit = std::getenv("ATEN_CPU_CAPABILITY");
  const bool native = limit == nullptr && Avx512Bf16Kernels() != nullptr;
  int32_t emulated = -1;
  hopper_error error = {};
  double gain = 0.0;
  ASSERT_EQ(Api().check_precision("bf16", 0, &emulated, &gain, &error), 0) << error.message;
  EXPECT_EQ(emulated, native ? 0 : 1);
  EXPECT_GT(gain, 0.0);
  double again = 0.0;
  ASSERT_EQ(Api().check_precision("bf16", 0, &emulated, &again, &error), 0) << error.message;
  EXPECT_EQ(again, gain) << "it is measured once";
  const std::string numerics = NumericsClass("bf16");
  EXPECT_EQ(numerics.find(", bf16 emulated, planned") == std::string::npos, native) << numerics;
  EXPECT_EQ(NumericsClass("fp32").find("emulated"), std::string::npos);
  ASSERT_EQ(Api().check_precision("fp32", 0, &emulated, &gain, &error), 0) << error.message;
  EXPECT_EQ(emulated, 0);
  EXPECT_EQ(gain, 1.0);
  ASSERT_EQ(Api().check_precision("tf32", 1, &emulated, &gain, &error), 0) << error.message;
  EXPECT_EQ(Api().check_precision("tf32", 0, &emulated, &gain, &error), HOPPER_NOT_SUPPORTED);
  EXPECT_STREQ(error.message, "dtype \"tf32\" is for GPUs only");
  EXPECT_EQ(Api().check_precision("half", 0, &emulated, &gain, &error), HOPPER_INVALID_PARAMETER);
  EXPECT_STREQ(error.message, "dtype \"half\" is not known");
}

// A processor may have the instructions and be slower with them: that is found by trying. Emulated
// products are known to lose against a vector's float32.
TEST(Bf16Run, WhatItGainsIsMeasured) {
  const Kernels* vectors = Avx2Kernels();
  if (vectors == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  EXPECT_LT(Bf16Gain(*vectors, *BaselineBf16Kernels()), 0.9);
  EXPECT_GT(Bf16Gain(*BaselineKernels(), *BaselineBf16Kernels()), 0.0);
}

// The metrics that a run reports are those of its float32 weights in fp32.
TEST(Bf16Run, IsEvaluatedInFp32) {
  const PackedTable train{SmallImages()};
  RunOptions options = Bf16Options(2);
  options.training_metrics = HOPPER_METRICS_EVERY;
  std::vector<hopper_event> events;
  std::vector<Configuration> configs = {Six()[0]};
  configs[0].state = TrainAll(options, configs, train, nullptr, &events).at(1).state;
  double reported = NAN;
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_METRICS && event.running == 0) reported = event.loss;
  }
  hopper_config raw = {};
  raw.mst_key = 1;
  raw.model_arch = configs[0].arch.data();
  raw.model_arch_size = configs[0].arch.size();
  raw.compile_params = configs[0].compile.c_str();
  raw.fit_params = configs[0].fit.c_str();
  raw.state = configs[0].state.data();
  raw.state_size = configs[0].state.size();
  const EventFd event_fd;
  hopper_error error = {};
  hopper_evaluation* evaluation = nullptr;
  ASSERT_EQ(Api().evaluation.create(&raw, &train.desc(), 1, event_fd.fd(), &evaluation, &error), 0);
  for (const hopper_buffer& buffer : train.buffers(HOPPER_SPLIT_VALID)) {
    ASSERT_EQ(Api().evaluation.add_buffer(evaluation, &buffer, &error), 0) << error.message;
  }
  ASSERT_EQ(Api().evaluation.start(evaluation, &error), 0) << error.message;
  hopper_event event = {};
  while (Api().evaluation.poll(evaluation, &event, &error) == 0) event_fd.Wait();
  Api().evaluation.free(evaluation);
  EXPECT_EQ(event.loss, reported);
}

}  // namespace
}  // namespace hopper
