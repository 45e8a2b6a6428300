// Segments that train on GPUs, with devices that compute on the CPU.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "engine/devices/device_choice.h"
#include "engine/torch/lane_devices.h"
#include "support/group_driver.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

const std::vector<int32_t> kKeys = {10, 10, 20, 30};
const std::vector<int32_t> kValidKeys = {10, 20, 20, 30};

class GroupDevicesTest : public ::testing::Test {
 protected:
  GroupDevicesTest() : table_(SmallImages(200)), valid_(SmallImages(80)) { UseCpuLaneDevices(2); }
  ~GroupDevicesTest() override { UseCpuLaneDevices(0); }

  // Seven models of two architectures and several optimizers: some meet, some overtake others.
  static std::vector<Configuration> Models() {
    std::vector<Configuration> all;
    const std::vector<std::string> optimizers = {"Adam(lr=0.01, epsilon=0.001)",
                                                 "SGD(lr=0.05, momentum=0.9)"};
    for (int i = 0; i < 7; ++i) {
      Configuration config;
      config.key = i + 1;
      config.arch = i % 3 == 2 ? CnnJson(4, 3) : MlpJson(64, 12, 3);
      config.compile = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer='" +
                       optimizers[static_cast<size_t>(i % 2)] + "'";
      config.fit = "batch_size=16";
      all.push_back(config);
    }
    return all;
  }

  static RunOptions OnDevices(int fuse) {
    RunOptions options;
    options.use_gpus = 1;
    options.fuse = fuse;
    options.iterations = 3;
    options.training_metrics = HOPPER_METRICS_EVERY;
    options.starts = {0, 2, 3};
    return options;
  }

  static void ExpectNear(const Reports& reports, const Reports& expected, double tolerance) {
    ASSERT_EQ(reports.size(), expected.size());
    for (const auto& [what, values] : expected) {
      ASSERT_EQ(reports.at(what).size(), values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(reports.at(what)[i], values[i], tolerance);
      }
    }
  }

  PackedTable table_;
  PackedTable valid_;
};

// The oracle is a run of one process: the same visits in the same order.
TEST_F(GroupDevicesTest, UnfusedSegmentsGiveTheBitsOfOneRun) {
  std::vector<hopper_event> run_events, events;
  const auto expected = TrainAll(OnDevices(0), Models(), table_, &valid_, &run_events);
  GroupDriver groups(OnDevices(0), table_, &valid_, kKeys, kValidKeys, Models());
  const auto results = groups.Train(&events);
  ASSERT_EQ(results.size(), 7U);
  for (const auto& [key, result] : results) {
    SCOPED_TRACE(key);
    ASSERT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    EXPECT_EQ(result.digest, expected.at(key).digest);
    EXPECT_EQ(result.raw.examples, expected.at(key).raw.examples);
  }
  ASSERT_EQ(ReportsOf(run_events).size(), 7U * 3 * 2);
  ExpectNear(ReportsOf(events), ReportsOf(run_events), 1e-6);
}

TEST_F(GroupDevicesTest, ModelsSideBySideTrainAsOnThreads) {
  RunOptions on_threads = OnDevices(1);
  on_threads.use_gpus = 0;
  std::vector<hopper_event> thread_events, events;
  TrainAll(on_threads, Models(), table_, &valid_, &thread_events);
  GroupDriver groups(OnDevices(1), table_, &valid_, kKeys, kValidKeys, Models());
  for (const auto& [key, result] : groups.Train(&events)) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << key << ": " << result.raw.error;
  }
  ExpectNear(ReportsOf(events), ReportsOf(thread_events), 0.03);
}

// Where metrics are taken by evaluations, it does not matter which iterations are reported.
TEST_F(GroupDevicesTest, ModelsOfUnlikeReportsTrainSideBySide) {
  RunOptions options = OnDevices(1);
  options.frequency = 3;
  options.starts = {0};
  std::vector<Configuration> models = {Models()[0], Models()[1]};
  GroupDriver groups(options, table_, nullptr, {10, 10, 10, 10}, {}, {models[0]},
                     /*planned=*/true, /*stint=*/3);
  ASSERT_TRUE(groups.Enter({models[1]}, 1));
  std::vector<hopper_event> events;
  EXPECT_EQ(groups.Step(&events), std::vector<int32_t>{2});
  const auto& visits = groups.VisitsOf(1);
  const auto& others = groups.VisitsOf(2);
  ASSERT_EQ(visits.size(), 1U);
  ASSERT_EQ(others.size(), 2U) << "its only iteration is reported";
  EXPECT_EQ(visits[0].n_partitions, 4);
  EXPECT_EQ(visits[0].train, others[0].train) << "shares of the same time";
}

TEST_F(GroupDevicesTest, OneBadConfigurationDoesNotEndTheRun) {
  std::vector<Configuration> models = Models();
  models[3].compile = "loss='categorical_crossentropy', optimizer='SGD(lr=1e30)'";
  const auto expected = TrainAll(OnDevices(0), Models(), table_);
  GroupDriver groups(OnDevices(0), table_, nullptr, kKeys, {}, models);
  for (const auto& [key, result] : groups.Train()) {
    EXPECT_EQ(result.raw.status, key == 4 ? HOPPER_MODEL_FAILED : HOPPER_MODEL_DONE) << key;
    if (key == 4) continue;
    EXPECT_EQ(result.digest, expected.at(key).digest) << key;
  }
}

TEST_F(GroupDevicesTest, DataThatTheDeviceHasNoRoomForFailTheModels) {
  UseCpuLaneDevices(1, 1000);
  GroupDriver groups(OnDevices(0), table_, nullptr, kKeys, {}, Models());
  for (const auto& [key, result] : groups.Train()) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_FAILED);
    EXPECT_STREQ(result.raw.error, "the packed data do not fit on cuda:0");
  }
}

TEST_F(GroupDevicesTest, DataAboveTheMemoryOfASegmentAreRefused) {
  PackedTable::Options large = SmallImages(120000);
  large.partitions = 8;
  const PackedTable table(large);
  RunOptions options = OnDevices(0);
  options.starts = {0};
  options.memory_limit = 2 << 20;
  const std::vector<int32_t> keys(8, 10);
  const std::vector<Configuration> one = {Models()[0]};
  options.use_gpus = 0;
  const GroupDriver on_threads(options, table, nullptr, keys, {}, one, true);
  EXPECT_EQ(on_threads.plans().at(10).resident, 0);
  options.use_gpus = 1;
  try {
    const GroupDriver groups(options, table, nullptr, keys, {}, one, true);
    FAIL() << "they were taken";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("does not fit into the memory of a segment"),
              std::string::npos)
        << e.what();
  }
}

TEST_F(GroupDevicesTest, SegmentsOfAHostShareItsDevices) {
  const LaneDevices devices;
  const auto labels = [&devices](int n_devices, const std::vector<int32_t>& gpus) {
    UseCpuLaneDevices(n_devices);
    std::string all;
    for (int number = 0; number < 5; ++number) {
      TrainingOptions options;
      options.device_number = number;
      options.gpus = gpus;
      options.fuse = false;
      const DeviceChoice choice = ChooseDeviceOfProcess(&devices, options, Precision::kFp32);
      EXPECT_EQ(choice.devices.size(), 1U);
      EXPECT_NE(choice.numerics_class.find("test device, fp32, unfused"), std::string::npos);
      EXPECT_EQ(choice.devices[0].label, "cuda:" + std::to_string(choice.devices[0].index));
      all += std::to_string(choice.devices[0].index);
    }
    return all;
  };
  EXPECT_EQ(labels(1, {}), "00000");
  EXPECT_EQ(labels(2, {}), "01010");
  EXPECT_EQ(labels(3, {}), "01201");
  EXPECT_EQ(labels(8, {}), "01234");
  EXPECT_EQ(labels(4, {1, 3}), "13131");
  EXPECT_EQ(labels(4, {2}), "22222");
}

TEST_F(GroupDevicesTest, NoDeviceIsAnError) {
  UseCpuLaneDevices(0);
  if (!LaneDevices().List().devices.empty()) return;  // this machine has a GPU
  try {
    const GroupDriver groups(OnDevices(1), table_, nullptr, kKeys, {}, Models());
    FAIL() << "it trains on what is not there";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "no GPU is available");
  }
}

}  // namespace
}  // namespace hopper
