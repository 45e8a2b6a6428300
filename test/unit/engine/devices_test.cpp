// Runs on devices: the engine's part of GPUs with devices that compute on the CPU.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/devices/lanes.h"
#include "engine/torch/lane_copies.h"
#include "engine/torch/lane_devices.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

class DevicesTest : public ::testing::Test {
 protected:
  DevicesTest() : table_(SmallImages(200)), valid_(SmallImages(80)) { UseCpuLaneDevices(1); }
  ~DevicesTest() override { UseCpuLaneDevices(0); }

  // Nine models of two architectures, two batch sizes and several optimizers.
  static std::vector<Configuration> Models() {
    std::vector<Configuration> all;
    const std::vector<std::string> optimizers = {"Adam(lr=0.01, epsilon=0.001)",
                                                 "SGD(lr=0.05, momentum=0.9)",
                                                 "RMSprop(lr=0.001, epsilon=0.001)"};
    for (int i = 0; i < 9; ++i) {
      Configuration config;
      config.key = i + 1;
      config.arch = i % 3 == 2 ? CnnJson(4, 3) : MlpJson(64, 12, 3);
      config.compile = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer='" +
                       optimizers[static_cast<size_t>(i / 3)] + "'";
      config.fit = i % 2 == 0 ? "batch_size=16" : "batch_size=25";
      all.push_back(config);
    }
    return all;
  }

  RunOptions OnDevices() const {
    RunOptions options;
    options.use_gpus = 1;
    options.iterations = 3;
    options.training_metrics = HOPPER_METRICS_EVERY;
    return options;
  }

  static double Distance(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
      difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
      size += std::pow(static_cast<double>(b[i]), 2);
    }
    return std::sqrt(difference / size);
  }

  PackedTable table_;
  PackedTable valid_;
};

TEST_F(DevicesTest, TrainsAsThreadsDo) {
  std::vector<hopper_event> expected_events;
  RunOptions on_threads = OnDevices();
  on_threads.use_gpus = 0;
  const auto expected = TrainAll(on_threads, Models(), table_, &valid_, &expected_events);
  const Reports expected_reports = ReportsOf(expected_events);
  ASSERT_EQ(expected_reports.size(), 9U * 3 * 2);
  for (const int devices : {1, 2, 5}) {
    for (const int fuse : {1, 0}) {
      UseCpuLaneDevices(devices);
      SCOPED_TRACE(std::to_string(devices) + " devices, fuse " + std::to_string(fuse));
      RunOptions options = OnDevices();
      options.fuse = fuse;
      std::vector<hopper_event> events;
      const auto results = TrainAll(options, Models(), table_, &valid_, &events);
      for (const auto& [key, result] : results) {
        SCOPED_TRACE(key);
        ASSERT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
        EXPECT_LE(Distance(result.weights, expected.at(key).weights), 2e-3);
        EXPECT_EQ(result.raw.examples, expected.at(key).raw.examples);
        EXPECT_EQ(result.raw.iterations, 3);
      }
      const Reports reports = ReportsOf(events);
      ASSERT_EQ(reports.size(), expected_reports.size());
      for (const auto& [what, values] : expected_reports) {
        EXPECT_NEAR(reports.at(what)[0], values[0], 2e-2);
        EXPECT_NEAR(reports.at(what)[1], values[1], 0.03);
      }
    }
  }
}

// fuse => false: the same bits whoever trains beside, on however many devices.
TEST_F(DevicesTest, UnfusedModelsDoNotDependOnOthers) {
  RunOptions options = OnDevices();
  options.fuse = 0;
  const auto all = TrainAll(options, Models(), table_);
  UseCpuLaneDevices(3);
  const auto spread = TrainAll(options, Models(), table_);
  const auto alone = TrainAll(options, {Models()[4]}, table_);
  EXPECT_EQ(all.at(5).digest, alone.at(5).digest);
  for (const auto& [key, result] : all) EXPECT_EQ(result.digest, spread.at(key).digest);
}

// No key means that a lane is empty. Keys 0 and 4 start with the same partition.
TEST_F(DevicesTest, AnyKeyIsAModels) {
  RunOptions options = OnDevices();
  options.fuse = 0;
  std::vector<Configuration> models = {Models()[0], Models()[0], Models()[0]};
  models[0].key = 4;
  models[1].key = 0;
  models[2].key = -4;
  const auto results = TrainAll(options, models, table_);
  EXPECT_EQ(results.at(0).digest, results.at(4).digest);
  EXPECT_EQ(results.at(-4).digest, results.at(4).digest);
}

TEST_F(DevicesTest, AStateGoesOnOnTheDevice) {
  RunOptions options = OnDevices();
  options.fuse = 0;
  options.iterations = 4;
  const std::vector<Configuration> once = {Models()[0], Models()[2]};
  const auto straight = TrainAll(options, once, table_);
  options.iterations = 2;
  const auto half = TrainAll(options, once, table_);
  std::vector<Configuration> again = once;
  for (Configuration& config : again) config.state = half.at(config.key).state;
  const auto rest = TrainAll(options, again, table_);
  for (const Configuration& config : once) {
    EXPECT_EQ(rest.at(config.key).digest, straight.at(config.key).digest);
  }
  // A device's state is of a class of its own.
  options.use_gpus = 0;
  EXPECT_THROW(TrainAll(options, again, table_), std::runtime_error);
}

// Stints that follow each other, another beginning, and checkpoints in between.
TEST_F(DevicesTest, ModelsEnterRestAndHalt) {
  RunOptions options = OnDevices();
  options.fuse = 0;
  options.iterations = 5;
  const auto straight = TrainAll(options, Models(), table_, &valid_);
  for (const int devices : {1, 3}) {
    UseCpuLaneDevices(devices);
    RunDriver run(RunDriver::Planned{}, options, table_, &valid_);
    run.StayOpen();
    std::vector<Configuration> left = Models();
    for (int i = 0; i < 4; ++i) run.AddConfig(left[static_cast<size_t>(i)]);
    run.Plan();
    run.Start();
    // Each of them trains one iteration in vain, then anew three and two.
    std::map<int32_t, int> stints;
    const auto go_on = [&](int32_t key) {
      const int stint = stints[key]++;
      run.GoOn(key, stint == 0 ? 1 : stint == 1 ? 3 : 2, stint == 1);
    };
    for (int i = 0; i < 4; ++i) go_on(i + 1);
    size_t entered = 4;
    size_t ended = 0;
    int halted = 0;
    while (ended < left.size()) {
      hopper_event event = {};
      run.Visits();
      if (!run.NextEvent(&event)) {
        run.HaltForCheckpoints();
        run.WaitForEvent();
        continue;
      }
      ASSERT_NE(event.type, HOPPER_EVENT_MODEL_FAILED) << event.message;
      if (event.type == HOPPER_EVENT_CHECKPOINT) {
        ++halted;
        EXPECT_FALSE(run.CopyState(event.mst_key).empty());
        run.Release(event.mst_key);
      }
      if (event.type != HOPPER_EVENT_MODEL_DONE) continue;
      if (stints[event.mst_key] == 3) {
        ++ended;
      } else {
        go_on(event.mst_key);
      }
      if (entered < left.size()) {
        run.AddConfig(left[entered]);
        go_on(left[entered++].key);
      }
    }
    run.Close();
    run.WaitToEnd();
    EXPECT_GT(halted, 0);
    for (const auto& [key, result] : straight) {
      EXPECT_EQ(run.Result(key).digest, result.digest) << key << " on " << devices;
    }
  }
}

// Four lanes for the first, eight for those that enter later.
TEST_F(DevicesTest, ArraysGrowWithTheModelsThatEnter) {
  RunOptions options = OnDevices();
  options.iterations = 2;
  std::vector<Configuration> models;
  for (int32_t key = 1; key <= 6; ++key) {
    models.push_back(Models()[0]);
    models.back().key = key;
    models.back().compile = Models()[static_cast<size_t>(key)].compile;
  }
  const auto expected = TrainAll(options, models, table_);
  RunDriver run(RunDriver::Planned{}, options, table_, nullptr);
  run.StayOpen();
  run.AddConfig(models[0]);
  run.Plan();
  run.Start();
  run.GoOn(1, 2);
  for (size_t ended = 0; ended < models.size();) {
    hopper_event event = {};
    run.Visits();
    if (!run.NextEvent(&event)) {
      run.WaitForEvent();
      continue;
    }
    ASSERT_NE(event.type, HOPPER_EVENT_MODEL_FAILED) << event.message;
    if (event.type != HOPPER_EVENT_MODEL_DONE || ++ended > 1) continue;
    for (size_t i = 1; i < models.size(); ++i) {
      run.AddConfig(models[i]);
      run.GoOn(models[i].key, 2);
    }
  }
  run.Close();
  run.WaitToEnd();
  for (const auto& [key, result] : expected) {
    EXPECT_LE(Distance(run.Result(key).weights, result.weights), 2e-3) << key;
  }
}

// One that enters later fails like those that were there.
TEST_F(DevicesTest, OnADeviceThatCannotBeUsedWhoEntersFails) {
  UseCpuLaneDevices(1, 100);
  RunDriver run(RunDriver::Planned{}, OnDevices(), table_, nullptr);
  run.StayOpen();
  run.AddConfig(Models()[0]);
  run.Plan();
  run.Start();
  for (const size_t at : {size_t{0}, size_t{1}}) {
    if (at > 0) run.AddConfig(Models()[at]);
    run.GoOn(Models()[at].key, 1);
    hopper_event event = {};
    while (event.type != HOPPER_EVENT_MODEL_FAILED) {
      while (!run.NextEvent(&event)) run.WaitForEvent();
    }
    EXPECT_STREQ(event.message, "the packed data do not fit on cuda:0");
  }
  run.Close();
  run.WaitToEnd();
}

TEST_F(DevicesTest, OneBadConfigurationDoesNotEndTheRun) {
  std::vector<Configuration> models = Models();
  models[3].compile =
      "loss='categorical_crossentropy', optimizer='SGD(lr=1e30)', "
      "metrics=['accuracy']";
  models[8].compile =
      "loss='categorical_crossentropy', optimizer='SGD(lr=1e30)', "
      "metrics=['accuracy']";
  const auto results = TrainAll(OnDevices(), models, table_, &valid_);
  for (const auto& [key, result] : results) {
    const bool bad = key == 4 || key == 9;
    EXPECT_EQ(result.raw.status, bad ? HOPPER_MODEL_FAILED : HOPPER_MODEL_DONE) << key;
    if (bad) {
      EXPECT_NE(std::string(result.raw.error).find("after"), std::string::npos) << result.raw.error;
    }
  }
}

// A device that is too small for one shape still trains the other; one that cannot hold the data
// trains nothing.
TEST_F(DevicesTest, WhatDoesNotFitFails) {
  UseCpuLaneDevices(1, 1 << 25);
  std::vector<Configuration> models = Models();
  models[2].arch = MlpJson(64, 20000, 3);
  auto results = TrainAll(OnDevices(), models, table_, &valid_);
  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.raw.status, key == 3 ? HOPPER_MODEL_FAILED : HOPPER_MODEL_DONE)
        << key << result.raw.error << result.raw.error_detail;
  }
  EXPECT_STREQ(results.at(3).raw.error, "configuration does not fit on cuda:0");
  EXPECT_NE(std::string(results.at(3).raw.error_detail).find("are free"), std::string::npos);
  UseCpuLaneDevices(1, 100);
  results = TrainAll(OnDevices(), models, table_, &valid_);
  for (const auto& [key, result] : results) {
    EXPECT_STREQ(result.raw.error, "the packed data do not fit on cuda:0");
  }
}

TEST_F(DevicesTest, NamesTheClass) {
  UseCpuLaneDevices(2);
  RunOptions options = OnDevices();
  EXPECT_NE(std::string(RunDriver(options, table_, nullptr).Info().numerics_class)
                .find("test device, fp32, fused"),
            std::string::npos);
  options.fuse = 0;
  options.precision = "tf32";
  EXPECT_NE(std::string(RunDriver(options, table_, nullptr).Info().numerics_class)
                .find("test device, tf32, unfused"),
            std::string::npos);
}

TEST_F(DevicesTest, RefusesDevicesThatAreNotThere) {
  UseCpuLaneDevices(2);
  const auto message = [&](const std::vector<int32_t>& gpus) {
    RunOptions options = OnDevices();
    options.gpus = gpus;
    try {
      const RunDriver run(options, table_, nullptr);
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({0, 1}), "");
  EXPECT_EQ(message({1}), "");
  EXPECT_EQ(message({2}), "device \"cuda:2\" is not available");
  EXPECT_EQ(message({-1}), "device \"cuda:-1\" is not available");
  EXPECT_EQ(message({1, 1}), "device \"cuda:1\" is named twice");
  UseCpuLaneDevices(0);
  if (LaneDevices().List().devices.empty()) {
    EXPECT_EQ(message({}), "no GPU is available");
  }
}

TEST_F(DevicesTest, ArraysHaveNoMoreLanesThanTheyNeed) {
  EXPECT_EQ(EvenLanes(4, 32), 4);
  EXPECT_EQ(EvenLanes(32, 32), 32);
  EXPECT_EQ(EvenLanes(33, 32), 17);
  EXPECT_EQ(EvenLanes(3, 1), 1);
}

TEST_F(DevicesTest, ArraysThatMayGrowAreSeldomMadeAnew) {
  EXPECT_EQ(LanesFor(1, 32), 4);
  EXPECT_EQ(LanesFor(5, 32), 8);
  EXPECT_EQ(LanesFor(40, 32), 32);
  EXPECT_EQ(LanesFor(17, 17), 17);
  EXPECT_EQ(LanesFor(9, 1), 1);
}

TEST_F(DevicesTest, WorkersShareTheMemoryOfTheirDevice) {
  DeviceOptions first, second;
  second.index = 1;
  second.memory = 1700;
  const auto workers = WorkersOf({first, second}, 500);
  ASSERT_EQ(workers.size(), 8U);
  int64_t all = 0;
  for (size_t i = 0; i < workers.size(); ++i) {
    EXPECT_EQ(workers[i].index, static_cast<int>(i % 2));
    (i % 2 == 0 ? first.share : all) += workers[i].share;
  }
  EXPECT_EQ(first.share, -1 - 4) << "nothing is known of its memory";
  EXPECT_EQ(workers[1].share, 600);
  EXPECT_EQ(all, 600 + 300 + 200 + 150);
}

// Four shapes: as many arrays, each with a worker of its own, on one device.
TEST_F(DevicesTest, ArraysOfADeviceTrainAtOnce) {
  RunDriver run(OnDevices(), table_, nullptr);
  for (const Configuration& config : Models()) run.AddConfig(config);
  run.Start();
  run.WaitToEnd();
  EXPECT_EQ(run.Info().n_workers, 4);
  std::map<int32_t, std::set<int32_t>> models;
  for (const hopper_visit& visit : run.Visits()) models[visit.worker].insert(visit.mst_key);
  ASSERT_EQ(models.size(), 4U);
  for (const auto& [worker, keys] : models) EXPECT_LE(keys.size(), 3U) << worker;
}

TEST_F(DevicesTest, WorkersShareTheDataOfTheirDevice) {
  const Dataset train = DatasetOf(table_), valid = DatasetOf(valid_);
  const std::unique_ptr<LaneDevice> first = OpenLaneDevice(0), second = OpenLaneDevice(0);
  LaneCopies data;
  auto copy = data.On(0, "cuda:0", train, &valid, first.get());
  EXPECT_EQ(data.On(0, "cuda:0", train, &valid, second.get()), copy);
  EXPECT_NE(data.On(1, "cuda:1", train, &valid, second.get()), copy);
  EXPECT_EQ(copy->train->bytes() + copy->valid->bytes(), train.bytes() + valid.bytes());
  const std::weak_ptr<const LaneCopies::Copy> kept = copy;
  copy.reset();
  EXPECT_TRUE(kept.expired());
  EXPECT_NE(data.On(0, "cuda:0", train, nullptr, first.get()), nullptr);
}

TEST_F(DevicesTest, CancelEndsTheRun) {
  RunOptions options = OnDevices();
  options.iterations = 100000;
  RunDriver run(options, table_, nullptr);
  for (const Configuration& config : Models()) run.AddConfig(config);
  run.Start();
  while (run.Visits().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  run.Cancel();
  EXPECT_EQ(run.WaitToEnd().back().type, HOPPER_EVENT_FINISHED);
}

TEST_F(DevicesTest, Bfloat16Learns) {
  RunOptions options = OnDevices();
  options.precision = "bf16";
  options.iterations = 10;
  std::vector<hopper_event> events;
  const auto results = TrainAll(options, {Models()[0], Models()[2]}, table_, &valid_, &events);
  for (const auto& [key, result] : results) EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE);
  const Reports reports = ReportsOf(events);
  for (const int key : {1, 3}) {
    EXPECT_GT(reports.at(std::make_tuple(key, 10, static_cast<int>(HOPPER_SPLIT_VALID)))[1], 0.8);
  }
}

}  // namespace
}  // namespace hopper
