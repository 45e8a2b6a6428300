// A GPU against the CPU: the same arrays, kernels and runs on both. Skips without a GPU.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/lane_array.h"
#include "engine/torch/lane_devices.h"
#include "support/autograd.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

constexpr uint64_t kSeed = 11;

bool HasGpu() { return !LaneDevices().List().devices.empty(); }

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasGpu()) GTEST_SKIP() << "no GPU: run scripts/test-gpu on a machine with one";
    at::set_num_threads(4);
    gpu_ = OpenLaneDevice(0);
    cpu_ = MakeCpuLaneDevice();
  }

  void UseTable(int64_t rows, int32_t partitions) {
    PackedTable::Options options;
    options.x_shape = {8, 8, 1};
    options.rows = rows;
    options.partitions = partitions;
    table_ = std::make_unique<PackedTable>(options);
    data_ = std::make_unique<Dataset>(DatasetOf(*table_));
  }

  std::unique_ptr<Trainer> Make(const std::shared_ptr<const Network>& network,
                                const std::string& optimizer, const std::string& fit) const {
    std::vector<ParamProblem> problems;
    return std::make_unique<Trainer>(
        network,
        ParseCompileParams("loss='categorical_crossentropy', metrics=['accuracy', 'AUC'], "
                           "optimizer=" +
                               optimizer,
                           &problems),
        ParseFitParams(fit, &problems), data_->desc(), Autograd(), kSeed);
  }

  struct Trained {
    std::vector<ModelState> states;
    std::vector<MetricSums> sums, evaluated;
  };

  // Every model over all partitions, `passes` times.
  Trained Train(LaneDevice* device, const std::vector<const Trainer*>& trainers, int lanes,
                const std::string& precision, bool deterministic, int passes) const {
    device->Enter(precision, deterministic);
    const LaneData data(*data_, device);
    LaneOptions options;
    options.lanes = lanes;
    options.precision = precision;
    LaneArray array(*trainers[0], data_->desc(), options, device);
    Trained result;
    for (size_t i = 0; i < trainers.size(); ++i) {
      result.states.push_back(trainers[i]->InitialState(nullptr, "class"));
      array.Load(static_cast<int>(i), *trainers[i], result.states.back());
    }
    std::vector<ModelState*> states;
    for (ModelState& state : result.states) states.push_back(&state);
    const std::atomic<bool> cancel{false};
    for (int visit = 0; visit < passes * data_->n_partitions(); ++visit) {
      std::vector<LaneVisit> visits;
      for (size_t i = 0; i < trainers.size(); ++i) {
        visits.push_back(
            {trainers[i], states[i], visit % data_->n_partitions(), {}, VisitEnd::kDone});
      }
      array.Train(&visits, data, cancel, true);
      result.sums.clear();
      for (size_t i = 0; i < trainers.size(); ++i) {
        EXPECT_EQ(visits[i].end, VisitEnd::kDone);
        result.sums.push_back(visits[i].sums);
        if ((visit + 1) % data_->n_partitions() == 0) ++states[i]->iteration;
      }
    }
    array.Save(states);
    std::vector<const float*> weights;
    for (const ModelState& state : result.states) weights.push_back(state.params.data());
    EXPECT_TRUE(array.Evaluate(weights, data, cancel, &result.evaluated));
    return result;
  }

  static double Distance(const AlignedArray<float>& a, const AlignedArray<float>& b) {
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
      difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
      size += std::pow(static_cast<double>(b[i]), 2);
    }
    return std::sqrt(difference / std::max(size, 1e-30));
  }

  static bool SameBits(const Trained& a, const Trained& b) {
    for (size_t i = 0; i < a.states.size(); ++i) {
      const auto bytes = a.states[i].params.size() * sizeof(float);
      if (std::memcmp(a.states[i].params.data(), b.states[i].params.data(), bytes) != 0) {
        return false;
      }
    }
    return true;
  }

  std::unique_ptr<LaneDevice> gpu_, cpu_;
  std::unique_ptr<PackedTable> table_;
  std::unique_ptr<Dataset> data_;
};

// Runs steps as they come on a device that would record them.
class Unrecorded : public LaneDevice {
 public:
  explicit Unrecorded(LaneDevice* device) : device_(*device), cpu_(MakeCpuLaneDevice()) {}
  at::Device device() const override { return device_.device(); }
  std::string name() const override { return device_.name(); }
  int64_t free_bytes() const override { return device_.free_bytes(); }
  void Enter(const std::string& precision, bool deterministic) override {
    device_.Enter(precision, deterministic);
  }
  at::Tensor Staging(at::IntArrayRef sizes, at::ScalarType type) override {
    return device_.Staging(sizes, type);
  }
  void DropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer, uint32_t threshold,
                   float scale, int64_t lanes, int64_t elements, float* mask) override {
    device_.DropoutMask(seeds, steps, layer, threshold, scale, lanes, elements, mask);
  }
  void Uniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
               int64_t elements, float* values) override {
    device_.Uniform(seeds, steps, layer, lanes, elements, values);
  }
  void Update(const LaneUpdate& update) override { device_.Update(update); }
  LaneQueues* queues() override { return device_.queues(); }
  bool records() const override { return false; }
  std::unique_ptr<LaneStep> Record(const std::function<void()>& body,
                                   const std::function<void()>& before) override {
    return cpu_->Record(body, before);
  }
  void Throttle() override { device_.Throttle(); }
  void Synchronize() override { device_.Synchronize(); }
  void Trim() override { device_.Trim(); }

 private:
  LaneDevice& device_;
  std::unique_ptr<LaneDevice> cpu_;
};

TEST_F(GpuTest, DropoutMasksAreTheCpus) {
  gpu_->Enter("fp32", false);
  const std::vector<int64_t> seeds = {1, -5, 1LL << 40}, steps = {0, 7, 1LL << 33};
  const int64_t elements = 10007;
  std::vector<float> expected(3 * elements);
  cpu_->DropoutMask(seeds.data(), steps.data(), 4, 1 << 22, 1.5F, 3, elements, expected.data());
  const auto on_device = [&](const std::vector<int64_t>& values) {
    return at::from_blob(const_cast<int64_t*>(values.data()), {3}, at::kLong).to(gpu_->device());
  };
  const at::Tensor device_seeds = on_device(seeds), device_steps = on_device(steps);
  const at::Tensor mask =
      at::empty({3, elements}, at::TensorOptions().device(gpu_->device()).dtype(at::kFloat));
  gpu_->DropoutMask(device_seeds.const_data_ptr<int64_t>(), device_steps.const_data_ptr<int64_t>(),
                    4, 1 << 22, 1.5F, 3, elements, mask.mutable_data_ptr<float>());
  gpu_->Synchronize();
  const at::Tensor back = mask.cpu();
  EXPECT_EQ(
      std::memcmp(back.const_data_ptr<float>(), expected.data(), expected.size() * sizeof(float)),
      0);
}

// Without clipping by norm, whose sums are taken in another order, and powers (Ftrl's).
TEST_F(GpuTest, UpdatesHaveTheCpusBits) {
  gpu_->Enter("fp32", false);
  std::vector<OptimizerParams> optimizers;
  for (const OptimizerType& type : OptimizerTypes()) {
    const OptimizerParams optimizer = DefaultOptimizer(type);
    if (KernelAt(KernelPlace(optimizer)).by_norms) continue;  // sums of other parts
    optimizers.push_back(optimizer);
    optimizers.back().clipvalue = 0.9;
    optimizers.back().weight_decay = 0.01;
  }
  const auto lanes = static_cast<int64_t>(optimizers.size());
  const std::vector<LaneSpan> spans = {{0, 0, 100003, 0.0F, 0.002F}, {100016, 100016, 7, 0.1F, 0}};
  constexpr int64_t kFlat = 100032;
  std::vector<LaneRule> rules;
  std::vector<LaneScalars> table;
  for (const OptimizerParams& optimizer : optimizers) rules.push_back(MakeLaneRule(optimizer));
  for (int step = 0; step < 3; ++step) {
    for (const OptimizerParams& optimizer : optimizers) {
      table.push_back(MakeLaneScalars(optimizer, step));
    }
  }
  const auto bytes = [](const auto& values) {
    return at::from_blob(const_cast<void*>(static_cast<const void*>(values.data())),
                         {static_cast<int64_t>(values.size() * sizeof(values[0]))}, at::kByte);
  };
  const at::Tensor params = at::rand({lanes, kFlat}).sub_(0.5),
                   slots = at::zeros({lanes, 3, kFlat});
  const at::Tensor gradients = at::rand({lanes, kFlat}).mul_(4.0).sub_(2.0);
  const auto run = [&](LaneDevice* device) {
    const at::Device at = device->device();
    at::Tensor w = params.clone().to(at), s = slots.clone().to(at), g = gradients.to(at);
    const at::Tensor shadow = at::zeros({lanes, kFlat}, w.options().dtype(at::kBFloat16));
    const at::Tensor on[] = {bytes(spans).to(at), bytes(rules).to(at), bytes(table).to(at)};
    at::Tensor row = at::zeros({1}, w.options().dtype(at::kLong));
    LaneUpdate update;
    update.lanes = static_cast<int32_t>(lanes);
    update.n_spans = 2;
    update.n_slots = 3;
    update.flat_size = update.slot_size = kFlat;
    update.spans = static_cast<const LaneSpan*>(on[0].const_data_ptr());
    update.rules = static_cast<const LaneRule*>(on[1].const_data_ptr());
    update.table = static_cast<const LaneScalars*>(on[2].const_data_ptr());
    update.row = row.const_data_ptr<int64_t>();
    update.params = w.mutable_data_ptr<float>();
    update.gradients = g.mutable_data_ptr<float>();
    update.slots = s.mutable_data_ptr<float>();
    update.shadow = static_cast<uint16_t*>(shadow.mutable_data_ptr());
    for (int step = 0; step < 3; ++step) {
      device->Update(update);
      row.add_(1);
    }
    device->Synchronize();
    return std::vector<at::Tensor>{w.cpu(), s.cpu(), shadow.cpu()};
  };
  const std::vector<at::Tensor> expected = run(cpu_.get()), actual = run(gpu_.get());
  for (size_t i = 0; i < expected.size(); ++i) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const at::Tensor e = expected[i][lane].contiguous(), a = actual[i][lane].contiguous();
      EXPECT_EQ(std::memcmp(e.const_data_ptr(), a.const_data_ptr(), e.nbytes()), 0)
          << OptimizerName(optimizers[static_cast<size_t>(lane)]) << " buffer " << i;
    }
  }
}

TEST_F(GpuTest, TrainsAsTheCpuDoes) {
  UseTable(404, 4);  // remainder batches
  for (const std::string& json : {MlpJson(64, 12, 3), CnnJson(6, 3)}) {
    const auto network = std::make_shared<const Network>(ParseModel(json, nullptr));
    const auto a = Make(network, "'Adam(lr=0.003, epsilon=0.001)'", "batch_size=16");
    const auto b = Make(network, "'SGD(lr=0.05, momentum=0.9)'", "batch_size=16, seed=9");
    const auto c =
        Make(network, "'RMSprop(lr=0.001, epsilon=0.001, clipnorm=0.5)'", "batch_size=16");
    const std::vector<const Trainer*> trainers = {a.get(), b.get(), c.get()};
    const Trained expected = Train(cpu_.get(), trainers, 4, "fp32", false, 2);
    const Trained actual = Train(gpu_.get(), trainers, 4, "fp32", false, 2);
    for (size_t i = 0; i < trainers.size(); ++i) {
      EXPECT_LE(Distance(actual.states[i].params, expected.states[i].params), 5e-3) << i;
      EXPECT_NEAR(actual.sums[i].loss, expected.sums[i].loss,
                  0.02 * std::fabs(expected.sums[i].loss));
      EXPECT_NEAR(actual.evaluated[i].metrics[0], expected.evaluated[i].metrics[0], 8.0);
    }
  }
}

// A recorded graph is the same work as its operations one by one; it puts back what warming up
// changed; and with deterministic libraries all of it has the same bits twice.
TEST_F(GpuTest, GraphsAreTheStepsTheyRecord) {
  UseTable(404, 4);
  for (const std::string& json : {MlpJson(64, 12, 3), CnnJson(6, 3)}) {
    const auto network = std::make_shared<const Network>(ParseModel(json, nullptr));
    const auto trainer =
        Make(network, "'Adam(lr=0.003, epsilon=0.001)'", "batch_size=16, epochs=2");
    Unrecorded unrecorded(gpu_.get());
    const Trained recorded = Train(gpu_.get(), {trainer.get()}, 1, "fp32", true, 2);
    const Trained again = Train(gpu_.get(), {trainer.get()}, 1, "fp32", true, 2);
    const Trained one_by_one = Train(&unrecorded, {trainer.get()}, 1, "fp32", true, 2);
    EXPECT_TRUE(SameBits(recorded, again));
    EXPECT_TRUE(SameBits(recorded, one_by_one));
    EXPECT_EQ(recorded.evaluated[0].loss, again.evaluated[0].loss);
  }
}

TEST_F(GpuTest, NarrowPrecisionsLearn) {
  UseTable(404, 4);
  const auto network = std::make_shared<const Network>(ParseModel(CnnJson(6, 3), nullptr));
  const auto trainer = Make(network, "'Adam(lr=0.003, epsilon=0.001)'", "batch_size=16");
  const Trained full = Train(gpu_.get(), {trainer.get()}, 4, "fp32", false, 4);
  for (const char* precision : {"tf32", "bf16"}) {
    const Trained narrow = Train(gpu_.get(), {trainer.get()}, 4, precision, false, 4);
    EXPECT_LE(Distance(narrow.states[0].params, full.states[0].params), 0.1) << precision;
    EXPECT_GT(narrow.evaluated[0].metrics[0], 300.0) << precision;
  }
}

// Steps end with their array; the device goes on.
TEST_F(GpuTest, RecordsAgainAfterAllStepsAreGone) {
  UseTable(64, 1);
  const auto network = std::make_shared<const Network>(ParseModel(MlpJson(64, 12, 3), nullptr));
  const auto trainer = Make(network, "'SGD(lr=0.01)'", "batch_size=16");
  const Trained first = Train(gpu_.get(), {trainer.get()}, 1, "fp32", true, 1);
  const Trained second = Train(gpu_.get(), {trainer.get()}, 1, "fp32", true, 1);
  EXPECT_TRUE(SameBits(first, second));
}

// As in a session that asks for build_info() or predicts before it trains: libtorch looks for its
// CUDA part once, when it first computes.
TEST(GpuDeathTest, IsThereAfterComputingOnTheCpu) {
  if (!HasGpu()) GTEST_SKIP() << "no GPU: run scripts/test-gpu on a machine with one";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Api();
        NumericsClass("fp32");
        OpenLaneDevice(0);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

// ---------------------------------------------------------------- whole runs

class GpuRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasGpu()) GTEST_SKIP() << "no GPU: run scripts/test-gpu on a machine with one";
  }
  static PackedTable::Options Images() {
    PackedTable::Options options;
    options.x_shape = {8, 8, 1};
    options.rows = 400;
    return options;
  }
  static Configuration Model(int32_t key, const std::string& compile, const std::string& fit) {
    Configuration config;
    config.key = key;
    config.arch = key % 2 == 0 ? CnnJson(6, 3) : MlpJson(64, 12, 3);
    config.compile =
        "loss='categorical_crossentropy', metrics=['accuracy'], optimizer='" + compile + "'";
    config.fit = fit;
    return config;
  }
  static RunOptions OnGpu(int fuse) {
    RunOptions options;
    options.use_gpus = 1;
    options.gpus = {0};
    options.fuse = fuse;
    options.iterations = 5;
    return options;
  }
  const PackedTable table_{Images()};
};

TEST_F(GpuRunTest, UnfusedRunsHaveTheSameBits) {
  const std::vector<Configuration> models = {Model(1, "Adam(lr=0.003)", "batch_size=16"),
                                             Model(2, "Adam(lr=0.003)", "batch_size=16"),
                                             Model(3, "SGD(lr=0.05)", "batch_size=30")};
  const auto first = TrainAll(OnGpu(0), models, table_);
  const auto second = TrainAll(OnGpu(0), models, table_);
  const auto alone = TrainAll(OnGpu(0), {models[1]}, table_);
  for (const auto& [key, result] : first) {
    ASSERT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    EXPECT_EQ(result.digest, second.at(key).digest);
  }
  EXPECT_EQ(first.at(2).digest, alone.at(2).digest);
}

// Four arrays, each on a stream of its own; runs follow one another in one process.
TEST_F(GpuRunTest, ArraysAtOnceTrainAsThreadsDo) {
  std::vector<Configuration> models;
  for (int32_t key = 1; key <= 12; ++key) {
    models.push_back(Model(key, key % 3 == 0 ? "SGD(lr=0.05)" : "Adam(lr=0.003, epsilon=0.001)",
                           key % 4 < 2 ? "batch_size=16" : "batch_size=30"));
  }
  RunOptions on_threads = OnGpu(1);
  on_threads.use_gpus = 0;
  const auto expected = TrainAll(on_threads, models, table_);
  for (int again = 0; again < 3; ++again) {
    for (const auto& [key, result] : TrainAll(OnGpu(1), models, table_)) {
      SCOPED_TRACE(key);
      ASSERT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
      const std::vector<float>& weights = expected.at(key).weights;
      double difference = 0.0, size = 0.0;
      for (size_t i = 0; i < weights.size(); ++i) {
        difference += std::pow(static_cast<double>(result.weights[i]) - weights[i], 2);
        size += std::pow(static_cast<double>(weights[i]), 2);
      }
      EXPECT_LE(std::sqrt(difference / size), 5e-3);
    }
  }
}

TEST_F(GpuRunTest, FailuresAreTheirOwn) {
  const std::vector<Configuration> models = {Model(1, "Adam(lr=0.003)", "batch_size=16"),
                                             Model(3, "SGD(lr=1e30)", "batch_size=16"),
                                             Model(5, "RMSprop(lr=0.001)", "batch_size=16")};
  const auto results = TrainAll(OnGpu(1), models, table_);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_DONE) << results.at(1).raw.error;
  EXPECT_EQ(results.at(3).raw.status, HOPPER_MODEL_FAILED);
  EXPECT_EQ(results.at(5).raw.status, HOPPER_MODEL_DONE) << results.at(5).raw.error;
}

TEST_F(GpuRunTest, NamesTheGpu) {
  const std::string name = LaneDevices().List().devices[0].name;
  RunDriver run(OnGpu(1), table_, nullptr);
  EXPECT_NE(std::string(run.Info().numerics_class).find(name + ", fp32, fused"), std::string::npos);
}

}  // namespace
}  // namespace hopper
