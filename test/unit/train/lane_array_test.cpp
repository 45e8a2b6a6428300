// Models that train side by side against the same models trained alone, on the CPU. What runs here
// is what a GPU runs, but for its kernels and the recording of steps.
#include "autograd/lane_array.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "autograd/tensor_memory.h"
#include "base/error.h"
#include "support/autograd.h"
#include "support/keras_models.h"
#include "support/losses.h"
#include "support/packed_table.h"

namespace hopper {
namespace {

constexpr uint64_t kSeed = 11;

TEST(LaneData, RefusesMoreRowsThanItsTablesTellApart) {
  const PackedTable table{{}};
  const DataDesc desc = FromC(table.desc());
  EXPECT_NO_THROW(CheckLaneRows(std::numeric_limits<int32_t>::max(), desc));
  EXPECT_THROW(CheckLaneRows(int64_t{1} << 31, desc), Error);
}

const char* const kCompile = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer=";

std::shared_ptr<const Network> NetworkOf(const std::string& json) {
  return std::make_shared<const Network>(ParseModel(json, nullptr));
}

// Convolutions whose images are large enough for lanes to stay apart, and a sum of two branches.
std::string LargeCnnJson() {
  return KerasSequential(
      {KerasLayer("Conv2D", "conv",
                  R"("batch_input_shape": [null, 32, 32, 3], "filters": 16, "strides": [1, 1],
                      "kernel_size": [3, 3], "padding": "same", "activation": "elu")"),
       KerasLayer("BatchNormalization", "norm", ""), KerasLayer("Dropout", "drop", "\"rate\": 0.5"),
       KerasLayer("AveragePooling2D", "pool", "\"pool_size\": [2, 2]"),
       KerasLayer("Conv2D", "conv2",
                  R"("filters": 8, "kernel_size": [3, 3], "activation": "softplus")"),
       KerasLayer("GlobalAveragePooling2D", "gap", ""), KerasDense("last", 3, "softmax")});
}

// Adam's usual epsilon would blow up the rounding of gradients that are nearly zero: tests that
// compare weights have a larger one.
class LaneArrayTest : public ::testing::Test {
 protected:
  LaneArrayTest() : device_(MakeCpuLaneDevice()) { at::set_num_threads(1); }

  void UseTable(const std::vector<int64_t>& shape, int64_t rows, int32_t partitions) {
    PackedTable::Options options;
    options.x_shape = shape;
    options.rows = rows;
    options.partitions = partitions;
    table_ = std::make_unique<PackedTable>(options);
    data_ = std::make_unique<Dataset>(DatasetOf(*table_));
    lane_data_ = std::make_unique<LaneData>(*data_, device_.get());
  }

  std::unique_ptr<Trainer> Make(const std::shared_ptr<const Network>& network,
                                const std::string& compile, const std::string& fit) const {
    std::vector<ParamProblem> problems;
    auto trainer =
        std::make_unique<Trainer>(network, ParseCompileParams(compile, &problems),
                                  ParseFitParams(fit, &problems), data_->desc(), Autograd(), kSeed);
    for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    return trainer;
  }

  struct Result {
    ModelState state;
    std::vector<MetricSums> sums;  // of each visit
    VisitEnd end = VisitEnd::kDone;
    MetricSums evaluated;
  };

  // Partitions 0, 1, ... visited one after another, twice.
  std::vector<int> Schedule() const {
    std::vector<int> schedule;
    for (int i = 0; i < 2 * data_->n_partitions(); ++i)
      schedule.push_back(i % data_->n_partitions());
    return schedule;
  }

  Result Alone(const Trainer& trainer) const {
    Result result;
    result.state = trainer.InitialState(nullptr, "class");
    for (const int partition : Schedule()) {
      MetricSums sums;
      result.end =
          trainer.Visit(&result.state, data_->partition(partition), partition, cancel_, &sums);
      result.sums.push_back(sums);
      if (result.end != VisitEnd::kDone) return result;
      if (partition + 1 == data_->n_partitions()) ++result.state.iteration;
    }
    const AlignedArray<float> kept = trainer.KeptWeights(result.state);
    for (int p = 0; p < data_->n_partitions(); ++p) {
      trainer.Evaluate(kept.data(), data_->partition(p), cancel_, &result.evaluated);
    }
    return result;
  }

  std::vector<Result> Together(const std::vector<const Trainer*>& trainers, int lanes,
                               const std::string& precision = "fp32") const {
    LaneOptions options;
    options.lanes = lanes;
    options.precision = precision;
    LaneArray array(*trainers[0], data_->desc(), options, device_.get());
    std::vector<Result> results(trainers.size());
    for (size_t i = 0; i < trainers.size(); ++i) {
      results[i].state = trainers[i]->InitialState(nullptr, "class");
      array.Load(static_cast<int>(i), *trainers[i], results[i].state);
    }
    for (const int partition : Schedule()) {
      std::vector<LaneVisit> visits;
      for (size_t i = 0; i < trainers.size(); ++i) {
        visits.push_back({trainers[i], &results[i].state, partition, {}, VisitEnd::kDone});
      }
      array.Train(&visits, *lane_data_, cancel_, true);
      for (size_t i = 0; i < trainers.size(); ++i) {
        results[i].sums.push_back(visits[i].sums);
        results[i].end = std::max(results[i].end, visits[i].end);
        if (partition + 1 == data_->n_partitions()) ++results[i].state.iteration;
      }
    }
    std::vector<ModelState*> states;
    for (Result& result : results) states.push_back(&result.state);
    array.Save(states);
    std::vector<AlignedArray<float>> kept;
    std::vector<const float*> weights;
    for (size_t i = 0; i < trainers.size(); ++i) {
      kept.push_back(trainers[i]->KeptWeights(results[i].state));
      weights.push_back(kept.back().data());
    }
    std::vector<MetricSums> evaluated;
    EXPECT_TRUE(array.Evaluate(weights, *lane_data_, cancel_, &evaluated));
    for (size_t i = 0; i < trainers.size(); ++i) results[i].evaluated = evaluated[i];
    return results;
  }

  static double Distance(const AlignedArray<float>& a, const AlignedArray<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
      difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
      size += std::pow(static_cast<double>(b[i]), 2);
    }
    return std::sqrt(difference / std::max(size, 1e-30));
  }

  static void ExpectSame(const Result& actual, const Result& expected, double tolerance) {
    EXPECT_LE(Distance(actual.state.params, expected.state.params), tolerance);
    EXPECT_LE(Distance(actual.state.slots, expected.state.slots), 10 * tolerance);
    EXPECT_EQ(actual.state.step, expected.state.step);
    EXPECT_EQ(actual.state.examples, expected.state.examples);
    ASSERT_EQ(actual.sums.size(), expected.sums.size());
    for (size_t i = 0; i < actual.sums.size(); ++i) ExpectNear(actual.sums[i], expected.sums[i]);
    ExpectNear(actual.evaluated, expected.evaluated);
  }

  static void ExpectNear(const MetricSums& actual, const MetricSums& expected) {
    EXPECT_EQ(actual.examples, expected.examples);
    EXPECT_NEAR(actual.loss, expected.loss, 1e-3 * std::max(1.0, std::fabs(expected.loss)));
    ASSERT_EQ(actual.metrics.size(), expected.metrics.size());
    for (size_t i = 0; i < actual.metrics.size(); ++i) {
      // Some examples lie on the edge of a count, of which AUC has hundreds.
      EXPECT_NEAR(
          actual.metrics[i], expected.metrics[i],
          std::max(actual.metrics.size() > 100 ? 4.0 : 1.0, 1e-3 * std::fabs(expected.metrics[i])));
    }
  }

  static bool SameBits(const ModelState& a, const ModelState& b) {
    return a.params.size() == b.params.size() && a.slots.size() == b.slots.size() &&
           std::memcmp(a.params.data(), b.params.data(), a.params.size() * sizeof(float)) == 0 &&
           std::memcmp(a.slots.data(), b.slots.data(), a.slots.size() * sizeof(float)) == 0;
  }

  std::unique_ptr<LaneDevice> device_;
  std::unique_ptr<PackedTable> table_;
  std::unique_ptr<Dataset> data_;
  std::unique_ptr<LaneData> lane_data_;
  std::atomic<bool> cancel_{false};
};

TEST_F(LaneArrayTest, DataOnTheDeviceAreWhatTheCpuGathers) {
  UseTable({20}, 203, 4);
  const DataDesc& desc = data_->desc();
  const std::vector<int32_t> rows = {5, 0, 49, 17};
  for (int p = 0; p < 4; ++p) {
    std::vector<float> x(rows.size() * 20);
    std::vector<int64_t> y(rows.size());
    GatherFeatures(desc, data_->partition(p), rows.data(), 4, x.data());
    GatherClasses(desc, data_->partition(p), rows.data(), 4, y.data());
    at::Tensor at = at::empty({4}, at::kInt);
    for (int i = 0; i < 4; ++i) {
      at.data_ptr<int32_t>()[i] =
          rows[static_cast<size_t>(i)] + static_cast<int32_t>(lane_data_->first_row(p));
    }
    const at::Tensor features = lane_data_->Features(at).contiguous();
    const at::Tensor labels = lane_data_->Labels(at).contiguous();
    EXPECT_EQ(std::memcmp(features.data_ptr<float>(), x.data(), x.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(labels.data_ptr<int64_t>(), y.data(), y.size() * sizeof(int64_t)), 0);
  }
  // It stays in its own type.
  EXPECT_EQ(lane_data_->bytes(), 203 * (20 + 2));
}

TEST_F(LaneArrayTest, OneLaneIsTheModelAlone) {
  UseTable({8, 8, 1}, 203, 4);  // partitions of 50 and 51 rows: remainder batches
  for (const std::string& json : {MlpJson(64, 12, 3), CnnJson(6, 3)}) {
    const auto network = NetworkOf(json);
    const auto trainer = Make(network, std::string(kCompile) + "'Adam(lr=0.01, epsilon=0.001)'",
                              "batch_size=16, epochs=2");
    ExpectSame(Together({trainer.get()}, 1)[0], Alone(*trainer), 2e-4);
  }
}

// Dropout must draw the CPU's masks and lanes their own: after some steps any difference shows.
TEST_F(LaneArrayTest, LanesAreModelsAlone) {
  UseTable({8, 8, 1}, 200, 4);
  for (const std::string& json : {MlpJson(64, 12, 3), CnnJson(6, 3)}) {
    const auto network = NetworkOf(json);
    std::vector<std::unique_ptr<Trainer>> trainers;
    std::vector<const Trainer*> pointers;
    const std::vector<std::pair<std::string, std::string>> configurations = {
        {"'Adam(lr=0.01, epsilon=0.001)'", "batch_size=16"},
        {"'SGD(lr=0.05, momentum=0.9, nesterov=True)'", "batch_size=16"},
        {"'RMSprop(lr=0.001, clipnorm=0.1)'", "batch_size=16, seed=5"},
        {"'Adam(lr=0.001, epsilon=0.001)'", "batch_size=16, shuffle=False"},
        {"'AdamW(lr=0.01, epsilon=0.001, use_ema=True)'", "batch_size=16"}};
    for (const auto& [optimizer, fit] : configurations) {
      trainers.push_back(Make(network, kCompile + optimizer, fit));
      pointers.push_back(trainers.back().get());
      EXPECT_EQ(LaneKey(*pointers.back(), data_->desc()), LaneKey(*pointers[0], data_->desc()));
    }
    for (const int lanes : {5, 8}) {
      const std::vector<Result> together = Together(pointers, lanes);
      for (size_t i = 0; i < pointers.size(); ++i) {
        SCOPED_TRACE(configurations[i].first);
        ExpectSame(together[i], Alone(*pointers[i]), 5e-4);
      }
      EXPECT_GT(Distance(together[0].state.params, together[3].state.params), 0.01);
    }
  }
}

TEST_F(LaneArrayTest, LargeImagesStayApart) {
  UseTable({32, 32, 3}, 64, 2);
  const auto network = NetworkOf(LargeCnnJson());
  const auto first =
      Make(network, std::string(kCompile) + "'Adam(lr=0.01, epsilon=0.001)'", "batch_size=32");
  const auto second = Make(network, std::string(kCompile) + "'SGD(lr=0.1)'", "batch_size=32");
  const std::vector<Result> together = Together({first.get(), second.get()}, 2);
  ExpectSame(together[0], Alone(*first), 5e-4);
  ExpectSame(together[1], Alone(*second), 5e-4);
}

// A device that warms up before it records, as GPUs do: what warming up changes is put back.
class RecordingDevice : public LaneDevice {
 public:
  at::Device device() const override { return cpu_->device(); }
  std::string name() const override { return "recording"; }
  int64_t free_bytes() const override { return -1; }
  void Enter(const std::string&, bool) override {}
  at::Tensor Staging(at::IntArrayRef sizes, at::ScalarType type) override {
    return cpu_->Staging(sizes, type);
  }
  void DropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer, uint32_t threshold,
                   float scale, int64_t lanes, int64_t elements, float* mask) override {
    cpu_->DropoutMask(seeds, steps, layer, threshold, scale, lanes, elements, mask);
  }
  void Uniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
               int64_t elements, float* values) override {
    cpu_->Uniform(seeds, steps, layer, lanes, elements, values);
  }
  void Update(const LaneUpdate& update) override { cpu_->Update(update); }
  bool records() const override { return true; }
  std::unique_ptr<LaneStep> Record(const std::function<void()>& body,
                                   const std::function<void()>& before) override {
    for (int i = 0; i < 3; ++i) {
      before();
      body();
    }
    ++recorded;
    return cpu_->Record(body, before);
  }
  void Throttle() override {}
  void Synchronize() override {}
  void Trim() override {}

  int recorded = 0;  // steps

 private:
  std::unique_ptr<LaneDevice> cpu_ = MakeCpuLaneDevice();
};

TEST_F(LaneArrayTest, RecordingStepsChangesNothing) {
  UseTable({8, 8, 1}, 200, 4);  // batches of 16 and 2
  for (const char* precision : {"fp32", "bf16"}) {
    const auto trainer = Make(NetworkOf(CnnJson(6, 3)), std::string(kCompile) + "'Adam(lr=0.01)'",
                              "batch_size=16, epochs=2");
    const Result plain = std::move(Together({trainer.get()}, 2, precision)[0]);
    auto recorder = std::make_unique<RecordingDevice>();
    const RecordingDevice* recording = recorder.get();
    device_ = std::move(recorder);
    const Result recorded = std::move(Together({trainer.get()}, 2, precision)[0]);
    EXPECT_TRUE(SameBits(recorded.state, plain.state));
    EXPECT_EQ(recorded.evaluated.loss, plain.evaluated.loss);
    for (size_t i = 0; i < plain.sums.size(); ++i) {
      EXPECT_EQ(recorded.sums[i].loss, plain.sums[i].loss);
      EXPECT_EQ(recorded.sums[i].metrics, plain.sums[i].metrics);
    }
    // A full batch, a remainder, and the one batch of evaluation.
    EXPECT_EQ(recording->recorded, 3);
    device_ = MakeCpuLaneDevice();
  }
}

// Notes what it is asked for.
class NotingQueues : public LaneQueues {
 public:
  void Fork(int64_t lanes, const std::vector<at::Tensor>& shared) override {
    EXPECT_EQ(current, -1);
    EXPECT_EQ(next, 0);
    lanes_ = lanes;
    current = 0;
    ++forks;
    for (const at::Tensor& tensor : shared) EXPECT_TRUE(tensor.defined());
  }
  void Enter(int64_t lane) override {
    EXPECT_EQ(lane, next++);
    current = lane;
  }
  void Join() override {
    EXPECT_TRUE(fails || next == lanes_);
    next = 0;
    current = -1;
  }
  int forks = 0;
  int64_t current = -1;  // -1: the caller's
  int64_t next = 0;
  bool fails = false;

 private:
  int64_t lanes_ = 0;
};

// The CPU's with queues, whose own work is never a lane's.
class QueuedDevice : public RecordingDevice {
 public:
  LaneQueues* queues() override { return &noting; }
  void Update(const LaneUpdate& update) override {
    EXPECT_EQ(noting.current, -1);
    RecordingDevice::Update(update);
  }
  NotingQueues noting;
};

TEST_F(LaneArrayTest, LanesHaveQueuesOfTheirOwn) {
  UseTable({32, 32, 3}, 64, 2);
  const auto network = NetworkOf(LargeCnnJson());
  const auto first = Make(network, std::string(kCompile) + "'Adam(lr=0.01)'", "batch_size=32");
  const auto second = Make(network, std::string(kCompile) + "'SGD(lr=0.1)'", "batch_size=32");
  const std::vector<const Trainer*> trainers = {first.get(), second.get()};
  const std::vector<Result> plain = Together(trainers, 2);
  auto queued = std::make_unique<QueuedDevice>();
  NotingQueues& noting = queued->noting;
  device_ = std::move(queued);
  const std::vector<Result> on_queues = Together(trainers, 2);
  EXPECT_GT(noting.forks, 0);
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_TRUE(SameBits(on_queues[i].state, plain[i].state));
  }
  noting.forks = 0;
  Together({first.get()}, 1);
  EXPECT_EQ(noting.forks, 0);
  noting.fails = true;  // the caller's queue goes on after a lane's failure
  const auto fail = [](int64_t lane) {
    if (lane == 1) throw Error(ErrorCode::kInternal, "made up");
  };
  EXPECT_THROW(ForEachLane(&noting, 3, {}, fail), Error);
  EXPECT_EQ(noting.current, -1);
}

// What others do changes no bit of a lane: neither their weights nor whether they are there.
TEST_F(LaneArrayTest, LanesDoNotDisturbEachOther) {
  UseTable({8, 8, 1}, 200, 4);
  for (const std::string& json : {MlpJson(64, 12, 3), CnnJson(6, 3)}) {
    const auto network = NetworkOf(json);
    const auto own =
        Make(network, std::string(kCompile) + "'Adam(lr=0.01, epsilon=0.001)'", "batch_size=16");
    const auto other =
        Make(network, std::string(kCompile) + "'SGD(lr=0.5)'", "batch_size=16, seed=3");
    const auto wild = Make(network, std::string(kCompile) + "'SGD(lr=1e30)'", "batch_size=16");
    const Result padded = std::move(Together({own.get()}, 4)[0]);
    const std::vector<Result> full = Together({own.get(), other.get(), wild.get(), own.get()}, 4);
    EXPECT_TRUE(SameBits(padded.state, full[0].state));
    EXPECT_TRUE(SameBits(full[3].state, full[0].state));  // nor which lane it is
    EXPECT_EQ(full[0].end, VisitEnd::kDone);
    EXPECT_EQ(full[2].end, VisitEnd::kNotFinite);
  }
}

TEST_F(LaneArrayTest, TellsWhichLaneIsNotFiniteAndWhen) {
  UseTable({20}, 200, 4);
  const auto network = NetworkOf(MlpJson(20, 12, 3));
  const auto calm = Make(network, std::string(kCompile) + "'SGD(lr=0.01)'", "batch_size=10");
  const auto wild = Make(network, std::string(kCompile) + "'SGD(lr=1e25)'", "batch_size=10");
  ModelState wild_alone = wild->InitialState(nullptr, "class");
  MetricSums sums;
  ASSERT_EQ(wild->Visit(&wild_alone, data_->partition(1), 1, cancel_, &sums), VisitEnd::kNotFinite);
  LaneOptions options;
  options.lanes = 2;
  LaneArray array(*calm, data_->desc(), options, device_.get());
  ModelState states[2] = {calm->InitialState(nullptr, "class"),
                          wild->InitialState(nullptr, "class")};
  array.Load(0, *calm, states[0]);
  array.Load(1, *wild, states[1]);
  std::vector<LaneVisit> visits = {{calm.get(), &states[0], 1, {}, VisitEnd::kDone},
                                   {wild.get(), &states[1], 1, {}, VisitEnd::kDone}};
  array.Train(&visits, *lane_data_, cancel_, false);
  EXPECT_EQ(visits[0].end, VisitEnd::kDone);
  EXPECT_TRUE(std::isfinite(visits[0].sums.loss));
  EXPECT_TRUE(visits[0].sums.metrics.empty());
  EXPECT_EQ(visits[1].end, VisitEnd::kNotFinite);
  EXPECT_FALSE(std::isfinite(visits[1].sums.loss));
  EXPECT_EQ(states[1].step, wild_alone.step);
}

TEST_F(LaneArrayTest, StopsBetweenBatches) {
  UseTable({20}, 200, 4);
  const auto trainer = Make(NetworkOf(MlpJson(20, 12, 3)), std::string(kCompile) + "'SGD()'", "");
  LaneArray array(*trainer, data_->desc(), LaneOptions(), device_.get());
  ModelState state = trainer->InitialState(nullptr, "class");
  array.Load(0, *trainer, state);
  std::vector<LaneVisit> visits = {{trainer.get(), &state, 0, {}, VisitEnd::kDone}};
  cancel_ = true;
  array.Train(&visits, *lane_data_, cancel_, true);
  EXPECT_EQ(visits[0].end, VisitEnd::kCancelled);
  std::vector<MetricSums> sums;
  EXPECT_FALSE(array.Evaluate({state.params.data()}, *lane_data_, cancel_, &sums));
}

// Every loss and metric, with class weights: against the stepper, which is tested against Keras.
TEST_F(LaneArrayTest, LossesAndMetrics) {
  UseTable({20}, 120, 2);
  const auto network = NetworkOf(MlpJson(20, 6, 3));
  const std::string metrics =
      "metrics=['accuracy', 'top_k_categorical_accuracy', 'mse', 'rmse', 'mae', 'AUC', "
      "'Precision', 'Recall', 'TruePositives', 'TrueNegatives', 'FalsePositives', "
      "'FalseNegatives', 'F1Score', 'R2Score', 'cosine_similarity', 'categorical_crossentropy', "
      "'Precision(top_k=2)', 'Recall(class_id=1, thresholds=0.3)', 'AUC(num_thresholds=20)', "
      "'PrecisionAtRecall(0.5)', 'SpecificityAtSensitivity(0.7, class_id=2)', 'MeanIoU', "
      "'OneHotIoU(num_classes=3, target_class_ids=[0, 2])', 'BinaryIoU', 'hinge', 'dice', "
      "'ConcordanceCorrelation', 'FBetaScore(beta=2)'], ";
  for (const std::string& loss : LossesAnd(
           {"dice", "CategoricalGeneralizedCrossEntropy(q=0.7)", "expr: mean(square(y - p))"})) {
    SCOPED_TRACE(loss);
    const std::string start = "loss='" + loss + "', " + metrics;
    // Its gradient is divided by labels of 1e-7: at a usual rate the first step makes outputs that
    // are exactly 0 and 1, where a sign at zero decides all the others; and where such gradients
    // cancel, Adam makes steps out of what rounding leaves, unless its epsilon is of their size.
    const bool steep = loss == "mape";
    const std::string rate = steep ? "1e-9" : "0.01";
    const std::string adam = steep ? "'Adam(epsilon=1e8)'" : "'Adam()'";
    const auto a = Make(network, start + "optimizer='SGD(lr=" + rate + ")'",
                        "batch_size=16, class_weight={0: 2.0, 2: 0.5}");
    const auto b = Make(network, start + "optimizer=" + adam,
                        "batch_size=16, class_weight={0: 2.0, 2: 0.5}, seed=8");
    const std::vector<Result> together = Together({a.get(), b.get()}, 3);
    ExpectSame(together[0], Alone(*a), 5e-4);
    ExpectSame(together[1], Alone(*b), 5e-4);
  }
}

TEST_F(LaneArrayTest, Bfloat16KeepsFloatMasters) {
  UseTable({8, 8, 1}, 400, 2);
  for (const std::string& json : {MlpJson(64, 16, 3), CnnJson(6, 3)}) {
    const auto network = NetworkOf(json);
    const auto trainer = Make(network, std::string(kCompile) + "'Adam(lr=0.003)'", "batch_size=16");
    const Result narrow = std::move(Together({trainer.get(), trainer.get()}, 2, "bf16")[1]);
    const Result alone = Alone(*trainer);
    const double distance = Distance(narrow.state.params, alone.state.params);
    EXPECT_LE(distance, 0.1);
    EXPECT_GE(distance, 1e-5);  // it did compute in bfloat16
    EXPECT_NEAR(narrow.evaluated.metrics[0], alone.evaluated.metrics[0], 12.0);
    EXPECT_GT(narrow.evaluated.metrics[0], 300.0);  // of 400: it learns
    // Weights have more bits than bfloat16 holds.
    int full = 0;
    for (size_t i = 0; i < narrow.state.params.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &narrow.state.params[i], sizeof(bits));
      full += (bits & 0xffffU) != 0;
    }
    EXPECT_GT(full, 50);
  }
}

TEST_F(LaneArrayTest, TheKeyTellsWhatLanesShare) {
  UseTable({20}, 120, 2);
  const auto network = NetworkOf(MlpJson(20, 6, 3));
  const auto key = [&](const std::string& compile, const std::string& fit) {
    return LaneKey(*Make(network, compile, fit), data_->desc());
  };
  const std::string base = key("loss='mse', optimizer='SGD()'", "batch_size=8");
  EXPECT_EQ(key("loss='mse', optimizer='Adam(lr=0.5)'", "batch_size=8, seed=4"), base);
  EXPECT_NE(key("loss='mae', optimizer='SGD()'", "batch_size=8"), base);
  EXPECT_NE(key("loss='mse', optimizer='SGD()', metrics=['mae']", "batch_size=8"), base);
  EXPECT_NE(key("loss='mse', optimizer='SGD()'", "batch_size=9"), base);
  const auto with = [&](const std::string& loss, const std::string& metric) {
    return key("loss='" + loss + "', optimizer='SGD()', metrics=['" + metric + "']", "");
  };
  EXPECT_EQ(with("Tversky(alpha=0.3)", "mae"), with("Tversky(0.3)", "mae"));
  EXPECT_NE(with("Tversky(alpha=0.3)", "mae"), with("Tversky(alpha=0.4)", "mae"));
  EXPECT_NE(with("Dice(axis=1)", "mae"), with("Dice", "mae"));
  EXPECT_NE(with("expr: mean(square(y - p))", "mae"), with("expr: mean(abs(y - p))", "mae"));
  EXPECT_NE(with("mse", "expr: mean(y - p)"), with("mse", "expr: mean(p - y)"));
  EXPECT_NE(with("huber", "mse"), with("huber", "mae"));
  EXPECT_NE(with("huber", "cosine_similarity"), with("huber", "mae"));
  EXPECT_NE(with("mse", "FBetaScore(beta=2)"), with("mse", "FBetaScore(beta=3)"));
  EXPECT_NE(with("mse", "Precision(class_id=1)"), with("mse", "Precision(class_id=2)"));
  EXPECT_NE(key("loss='mse', optimizer='SGD()'", "batch_size=8, epochs=2"), base);
  EXPECT_NE(key("loss='mse', optimizer='SGD()'", "batch_size=8, class_weight={0: 2.0}"), base);
  EXPECT_NE(
      LaneKey(*Make(NetworkOf(MlpJson(20, 7, 3)), "loss='mse', optimizer='SGD()'", "batch_size=8"),
              data_->desc()),
      base);
}

TEST_F(LaneArrayTest, TheNumberOfLanesIsAFunctionOfTheModel) {
  UseTable({20}, 120, 2);
  const auto trainer = Make(NetworkOf(MlpJson(20, 6, 3)), "loss='mse', optimizer='SGD()'", "");
  EXPECT_EQ(LaneCount(*trainer, data_->desc(), "fp32", -1), 32);
  const int64_t two = 2 * 2 * LaneBytes(*trainer, data_->desc(), "fp32", 1);
  EXPECT_EQ(LaneCount(*trainer, data_->desc(), "fp32", two), 2);
  EXPECT_EQ(LaneCount(*trainer, data_->desc(), "fp32", 1), 1);
}

TEST_F(LaneArrayTest, TheirBytesHoldWhatTheyTake) {
  // The sums of one lane are far larger than its model; a partition's order than both.
  for (const int rows : {120, 200000}) {
    UseTable({20}, rows, 2);
    const auto trainer = Make(NetworkOf(MlpJson(20, 6, 300)),
                              "loss='sparse_categorical_crossentropy', optimizer='SGD()', "
                              "metrics=[MeanIoU(num_classes=300)]",
                              "batch_size=8");
    LaneOptions options;
    options.lanes = 4;
    const OwnedAccount account = MemoryAccount::Create(int64_t{1} << 40);
    {
      const TensorMemoryScope scope(account.get());
      LaneArray array(*trainer, data_->desc(), options, device_.get());
      EXPECT_LE(account->used(), LaneBytes(*trainer, data_->desc(), "fp32", options.lanes)) << rows;
    }
  }
}

}  // namespace
}  // namespace hopper
