// One visit and one evaluation, against sums written out by hand.
#include "train/trainer.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "autograd/lane_array.h"
#include "autograd/tensor_memory.h"
#include "base/error.h"
#include "kernels/bf16.h"
#include "loss/objective.h"
#include "support/autograd.h"
#include "support/data_desc.h"
#include "support/keras_models.h"
#include "support/packed_table.h"
#include "train/plan_cache.h"
#include "train/sums.h"

namespace hopper {
namespace {

// Regression on one feature: y = w x + b, so that every number can be checked by hand.
class LineTest : public ::testing::Test {
 protected:
  LineTest() {
    at::set_num_threads(1);
    desc_.normalizing_const = 2.0;
    checksums_.reserve(2);  // buffers point at them
    AddBuffer(0, 0, 3);
    AddBuffer(1, 3, 2);
  }
  void AddBuffer(int32_t id, int first, int32_t n) {
    PackedBuffer buffer;
    buffer.buffer_id = id;
    buffer.n = n;
    buffer.x = x_ + first;
    buffer.x_size = sizeof(float) * static_cast<size_t>(n);
    buffer.y = y_ + first;
    buffer.y_size = buffer.x_size;
    checksums_.push_back(
        BufferChecksum(0, id, n, buffer.x, buffer.x_size, buffer.y, buffer.y_size));
    buffer.checksum = checksums_.back().bytes.data();
    buffers_.push_back(buffer);
  }
  Dataset Data() const {
    Dataset data(desc_);
    for (const PackedBuffer& buffer : buffers_) data.AddBuffer(buffer);
    return data;
  }
  static Trainer Make(
      const DataDesc& desc, const std::string& fit,
      const std::string& dense = R"("use_bias": true)",
      const std::string& compile = "loss='mse', optimizer='SGD(lr=0.125)', metrics=['mae']") {
    std::vector<ParamProblem> problems;
    const Shape shape = {1};
    auto spec = ParseModel(KerasSequential({KerasDense(
                               "line", 1, "linear", "\"batch_input_shape\": [null, 1], " + dense)}),
                           &shape);
    Trainer trainer(std::make_shared<const Network>(spec), ParseCompileParams(compile, &problems),
                    ParseFitParams(fit, &problems), desc, Autograd(), 3);
    EXPECT_TRUE(problems.empty());
    return trainer;
  }
  // What two floats w, b become by sequential SGD with batches of `batch` in rank order.
  static void Sgd(const float* x, const float* y, const float* factor, int n, int batch, float* w,
                  float* b, double* loss) {
    for (int first = 0; first < n; first += batch) {
      const int end = std::min(first + batch, n);
      const float count = static_cast<float>(end - first);
      float gradient_w = 0.0F;
      float gradient_b = 0.0F;
      for (int i = first; i < end; ++i) {
        const float error = *w * (x[i] / 2.0F) + *b - y[i];
        gradient_w += 2.0F * error * (x[i] / 2.0F) * factor[i] / count;
        gradient_b += 2.0F * error * factor[i] / count;
        *loss += static_cast<double>(error) * error * factor[i];
      }
      *w -= 0.125F * gradient_w;
      *b -= 0.125F * gradient_b;
    }
  }

  float x_[5] = {2.0F, -4.0F, 1.0F, 3.0F, -1.0F};
  float y_[5] = {1.0F, 0.0F, 2.0F, 1.0F, 3.0F};
  DataDesc desc_ = MakeDesc(ValueType::kFloat32, {1}, {}, 5);
  std::vector<Digest> checksums_;
  std::vector<PackedBuffer> buffers_;
  std::atomic<bool> cancel_{false};
};

TEST_F(LineTest, TrainsEveryBatchWithItsRealSize) {
  const Dataset data = Data();
  const float ones[] = {1, 1, 1, 1, 1};
  for (const int batch : {1, 2, 3, 5, 9}) {
    for (const int epochs : {1, 2}) {
      const Trainer trainer =
          Make(data.desc(), "shuffle=False, batch_size=" + std::to_string(batch) +
                                ", epochs=" + std::to_string(epochs));
      const float start[] = {0.5F, -0.25F};
      ModelState state = trainer.InitialState(start, "class");
      float w = start[0];
      float b = start[1];
      double loss = 0.0;
      for (int e = 0; e < epochs; ++e) Sgd(x_, y_, ones, 5, batch, &w, &b, &loss);
      MetricSums sums;
      ASSERT_EQ(trainer.Visit(&state, data.partition(0), 0, cancel_, &sums), VisitEnd::kDone);
      float weights[2];
      ExportWeights(trainer.network().spec(), state.params.data(), weights);
      EXPECT_NEAR(weights[0], w, 1e-6);
      EXPECT_NEAR(weights[1], b, 1e-6);
      EXPECT_NEAR(sums.loss, loss, 1e-5);
      EXPECT_EQ(sums.examples, 5 * epochs);
      EXPECT_EQ(sums.metrics.size(), 1U);
      EXPECT_EQ(state.step, epochs * ((5 + batch - 1) / batch));
      EXPECT_EQ(state.examples, 5 * epochs);
      EXPECT_EQ(state.iteration, 0);
    }
  }
}

TEST_F(LineTest, WeighsClasses) {
  const Dataset data = Data();
  // Labels 0 to 3 are taken as classes.
  const Trainer trainer =
      Make(data.desc(), "shuffle=False, batch_size=2, class_weight={0: 2.0, 1: 0.5, 3: 4.0}");
  const float factors[] = {0.5F, 2.0F, 1.0F, 0.5F, 4.0F};
  const float start[] = {0.5F, -0.25F};
  ModelState state = trainer.InitialState(start, "class");
  float w = start[0];
  float b = start[1];
  double loss = 0.0;
  Sgd(x_, y_, factors, 5, 2, &w, &b, &loss);
  MetricSums sums;
  ASSERT_EQ(trainer.Visit(&state, data.partition(0), 0, cancel_, &sums), VisitEnd::kDone);
  float weights[2];
  ExportWeights(trainer.network().spec(), state.params.data(), weights);
  EXPECT_NEAR(weights[0], w, 1e-6);
  EXPECT_NEAR(weights[1], b, 1e-6);
  EXPECT_NEAR(sums.loss, loss, 1e-5);
}

TEST_F(LineTest, EvaluatesWithoutWeightsOfClassesAndAddsRegularization) {
  const Dataset data = Data();
  const Trainer trainer =
      Make(data.desc(), "class_weight={0: 2.0}",
           R"("kernel_regularizer": {"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.25}})");
  const float start[] = {-2.0F, 0.5F};
  const ModelState state = trainer.InitialState(start, "class");
  MetricSums sums;
  ASSERT_EQ(trainer.Evaluate(state.params.data(), data.partition(0), cancel_, &sums),
            VisitEnd::kDone);
  double squares = 0.0;
  double absolutes = 0.0;
  for (int i = 0; i < 5; ++i) {
    const double error = -2.0 * (x_[i] / 2.0) + 0.5 - y_[i];
    squares += error * error;
    absolutes += std::fabs(error);
  }
  double loss = 0.0;
  std::vector<double> metrics;
  trainer.Finish(sums, &loss, &metrics);
  EXPECT_NEAR(loss, squares / 5 + 0.5 * 2.0 + 0.25 * 4.0, 1e-6);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_NEAR(metrics[0], absolutes / 5, 1e-6);
  EXPECT_EQ(sums.examples, 5);
}

// Predictions are cut to the range of labels that training has seen, in their own unit: metrics are
// of these. The loss is of what the model puts out.
TEST_F(LineTest, MeasuresPredictionsAsTheyAreCut) {
  desc_.outputs[0].unit = 10.0;
  desc_.outputs[0].bounds = LabelRange{0.0, 2.5};
  const Dataset data = Data();
  const Trainer trainer = Make(data.desc(), "", R"("use_bias": true)",
                               "loss='mse', optimizer='SGD()', metrics=['mae', 'r2_score']");
  const float start[] = {-2.0F, 0.5F};
  const ModelState state = trainer.InitialState(start, "class");
  double squares = 0.0, absolutes = 0.0, cut_squares = 0.0, deviations = 0.0;
  std::vector<float> outputs;
  for (int i = 0; i < 5; ++i) {
    outputs.push_back(-2.0F * (x_[i] / 2.0F) + 0.5F);
    squares += std::pow(outputs.back() - y_[i], 2);
    const double error = std::min(std::max(outputs.back(), 0.0F), 2.5F) - y_[i];
    absolutes += std::fabs(error);
    cut_squares += error * error;
    deviations += std::pow(y_[i] - 1.4, 2);
  }
  const auto expect = [&](const MetricSums& sums, double loss_sum) {
    double loss = 0.0;
    std::vector<double> metrics;
    trainer.Finish(sums, &loss, &metrics);
    EXPECT_NEAR(loss, loss_sum / 5, 1e-6);
    ASSERT_EQ(metrics.size(), 2U);
    EXPECT_NEAR(metrics[0], 10.0 * absolutes / 5, 1e-5);
    EXPECT_NEAR(metrics[1], 1.0 - cut_squares / deviations, 1e-6);
  };
  MetricSums planned;
  trainer.Evaluate(state.params.data(), data.partition(0), cancel_, &planned);
  expect(planned, squares);

  const auto device = MakeCpuLaneDevice();
  const LaneData lane_data(data, device.get());
  LaneArray array(trainer, data.desc(), LaneOptions(), device.get());
  std::vector<MetricSums> lanes;
  EXPECT_TRUE(array.Evaluate({state.params.data()}, lane_data, cancel_, &lanes));
  expect(lanes[0], squares);

  MetricSums sums;
  sums.examples = 5;
  Targets targets;
  targets.values = y_;
  PlannedObjective measured(trainer.objective(), 5, KernelsHere(), Autograd());
  measured.Run(outputs.data(), targets, nullptr, nullptr);
  AddMetrics(trainer.compile(), trainer.network().spec(), measured, &sums);
  expect(sums, 0.0);
}

TEST_F(LineTest, AFrozenModelDoesNotMove) {
  const Dataset data = Data();
  const Trainer trainer = Make(data.desc(), "batch_size=2", "\"trainable\": false");
  const float start[] = {0.5F, -0.25F};
  ModelState state = trainer.InitialState(start, "class");
  MetricSums sums;
  ASSERT_EQ(trainer.Visit(&state, data.partition(0), 0, cancel_, &sums), VisitEnd::kDone);
  float weights[2];
  ExportWeights(trainer.network().spec(), state.params.data(), weights);
  EXPECT_EQ(weights[0], 0.5F);
  EXPECT_EQ(weights[1], -0.25F);
  EXPECT_EQ(state.slots.size(), 0U);
  EXPECT_EQ(state.step, 3);
}

TEST_F(LineTest, NoticesWhatIsNotFinite) {
  const Dataset data = Data();
  const Trainer trainer = Make(data.desc(), "batch_size=5");
  MetricSums sums;
  const float huge[] = {1e30F, 0.0F};
  ModelState state = trainer.InitialState(huge, "class");
  EXPECT_EQ(trainer.Visit(&state, data.partition(0), 0, cancel_, &sums), VisitEnd::kNotFinite);
  EXPECT_TRUE(std::isinf(sums.loss));
  EXPECT_EQ(state.step, 0);
  // The loss is finite in the only step, the weights after it are not.
  MetricSums other;
  const Trainer fast = Make(data.desc(), "batch_size=5", R"("use_bias": true)",
                            "loss='mse', optimizer='SGD(lr=1e38)'");
  const float small[] = {30.0F, 0.0F};
  state = fast.InitialState(small, "class");
  EXPECT_EQ(fast.Visit(&state, data.partition(0), 0, cancel_, &other), VisitEnd::kNotFinite);
  EXPECT_TRUE(std::isfinite(other.loss));
  EXPECT_EQ(state.step, 1);
}

TEST_F(LineTest, HeedsCancel) {
  const Dataset data = Data();
  const Trainer trainer = Make(data.desc(), "batch_size=1");
  const float start[] = {0.5F, -0.25F};
  ModelState state = trainer.InitialState(start, "class");
  cancel_.store(true);
  MetricSums sums;
  EXPECT_EQ(trainer.Visit(&state, data.partition(0), 0, cancel_, &sums), VisitEnd::kCancelled);
  EXPECT_EQ(trainer.Evaluate(state.params.data(), data.partition(0), cancel_, &sums),
            VisitEnd::kCancelled);
  EXPECT_EQ(state.step, 0);
}

TEST_F(LineTest, RefusesWhatDoesNotFit) {
  DataDesc wide = desc_;
  SetFeatures(ValueType::kFloat32, {2}, &wide);
  EXPECT_THROW(Make(wide, ""), Error);
}

TEST(MemoryEstimate, GrowsWithTheBatchUpToAPartition) {
  const PackedTable table{{}};
  const DataDesc desc = FromC(table.desc());
  const auto estimate = [&](int64_t batch, const std::string& optimizer) {
    std::vector<ParamProblem> problems;
    FitParams fit;
    fit.batch_size = batch;
    const Trainer trainer(
        std::make_shared<const Network>(ParseModel(MlpJson(20, 5000, 3), &desc.x_shape)),
        ParseCompileParams("loss='sparse_categorical_crossentropy', optimizer='" + optimizer + "'",
                           &problems),
        fit, desc, Autograd(), 1);
    EXPECT_LE(trainer.StateBytes(), trainer.MemoryEstimate());
    return trainer.MemoryEstimate();
  };
  // Batches that divide a partition: a remainder has a plan, and so memory, of its own.
  EXPECT_LE(estimate(1, "SGD()"), estimate(25, "SGD()"));
  EXPECT_LT(estimate(25, "SGD()"), estimate(50, "SGD()"));
  EXPECT_EQ(estimate(51, "SGD()"), estimate(int64_t{1} << 60, "SGD()"));
  EXPECT_LT(estimate(10, "SGD()"), estimate(10, "Adam()"));
}

TEST(MemoryEstimate, CoversWhatAVisitAndAnEvaluationTake) {
  at::set_num_threads(1);
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = 1200;
  options.partitions = 2;
  options.rows_per_buffer = 600;
  const PackedTable table(options);
  const Dataset data = DatasetOf(table);
  const std::atomic<bool> cancel{false};
  for (const int filters : {4, 32}) {
    for (const int batch : {32, 500}) {
      std::vector<ParamProblem> problems;
      FitParams fit;
      fit.batch_size = batch;
      const Trainer trainer(
          std::make_shared<const Network>(ParseModel(CnnJson(filters, 3), &data.desc().x_shape)),
          ParseCompileParams("loss='sparse_categorical_crossentropy', optimizer='Adam()', "
                             "metrics=['accuracy']",
                             &problems),
          fit, data.desc(), Autograd(), 1);
      const int64_t granted = trainer.MemoryEstimate() - trainer.StateBytes();
      const OwnedAccount account = MemoryAccount::Create(granted);
      {
        const TensorMemoryScope scope(account.get());
        ModelState state = trainer.InitialState(nullptr, "class");
        MetricSums sums;
        EXPECT_NO_THROW(trainer.Visit(&state, data.partition(0), 0, cancel, &sums));
        EXPECT_NO_THROW(trainer.Evaluate(state.params.data(), data.partition(0), cancel, &sums));
      }
    }
  }
}

// Winograd's weights and the padded images of a dilated window are larger than activations.
TEST(MemoryEstimate, CoversWhatKernelsTakeForThemselves) {
  at::set_num_threads(1);
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = 77;
  options.partitions = 2;
  const PackedTable table(options);
  const Dataset data = DatasetOf(table);
  const std::atomic<bool> cancel{false};
  const std::string input = "\"batch_input_shape\": [null, 8, 8, 1], ";
  const auto conv = [](const std::string& name, int filters, const std::string& more) {
    return KerasLayer("Conv2D", name,
                      more + "\"filters\": " + std::to_string(filters) +
                          R"(, "padding": "same", "kernel_size": [3, 3])");
  };
  const std::vector<std::string> rest = {KerasLayer("Flatten", "flat", ""),
                                         KerasDense("last", 3, "softmax")};
  const std::vector<std::string> archs = {
      KerasSequential({conv("a", 96, input), conv("b", 128, ""), rest[0], rest[1]}),
      KerasSequential({conv("a", 8, input + R"("dilation_rate": [60, 60], )"), rest[0], rest[1]})};
  for (const std::string& arch : archs) {
    for (const int batch : {1, 32}) {
      std::vector<ParamProblem> problems;
      FitParams fit;
      fit.batch_size = batch;
      const Trainer trainer(
          std::make_shared<const Network>(ParseModel(arch, &data.desc().x_shape)),
          ParseCompileParams("loss='sparse_categorical_crossentropy', optimizer='SGD()'",
                             &problems),
          fit, data.desc(), Autograd(), 1);
      const int64_t granted = trainer.MemoryEstimate() - trainer.StateBytes();
      const OwnedAccount account = MemoryAccount::Create(granted);
      {
        const TensorMemoryScope scope(account.get());
        ModelState state = trainer.InitialState(nullptr, "class");
        MetricSums sums;
        EXPECT_NO_THROW(trainer.Visit(&state, data.partition(0), 0, cancel, &sums));
        EXPECT_NO_THROW(trainer.Evaluate(state.params.data(), data.partition(0), cancel, &sums));
      }
    }
  }
}

// Of rows that a small network can learn, with a layer that runs through autograd.
class KeptPlans : public ::testing::Test {
 protected:
  KeptPlans() : data_(DatasetOf(PackedTable(Images()))) {
    at::set_num_threads(1);
    network_ = std::make_shared<const Network>(ParseModel(
        KerasSequential({KerasLayer("Conv2DTranspose", "up",
                                    R"("batch_input_shape": [null, 8, 8, 1], "filters": 16,
                                       "kernel_size": [3, 3], "activation": "relu")"),
                         KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "linear")}),
        &data_.desc().x_shape));
  }
  static PackedTable::Options Images() {
    PackedTable::Options options = SmallImages(128);
    options.partitions = 1;
    return options;
  }
  Trainer Make(const std::string& rate) const {
    std::vector<ParamProblem> problems;
    Trainer trainer(network_,
                    ParseCompileParams("loss='mse', optimizer='SGD(lr=" + rate + ")'", &problems),
                    ParseFitParams("batch_size=32", &problems), data_.desc(), Autograd(), 1);
    EXPECT_TRUE(problems.empty());
    return trainer;
  }
  VisitEnd Visit(const Trainer& trainer) const {
    ModelState state = trainer.InitialState(nullptr, "class");
    MetricSums sums;
    return trainer.Visit(&state, data_.partition(0), 0, cancel_, &sums);
  }

  const Dataset data_;
  std::shared_ptr<const Network> network_;
  const std::atomic<bool> cancel_{false};
};

// A step that ends before its backward pass leaves nothing in the plan that the next one takes.
TEST_F(KeptPlans, HoldNothingOfAStepThatWasNotFinite) {
  const Trainer good = Make("0.001");
  const Trainer bad = Make("1e30");
  const OwnedAccount account = MemoryAccount::Create(int64_t{1} << 30);
  const TensorMemoryScope scope(account.get());
  PlanCache plans(int64_t{1} << 28);
  const PlanCacheScope caches(&plans);
  ASSERT_EQ(Visit(good), VisitEnd::kDone);
  TensorMemoryScope::Trim();
  const int64_t kept = account->used();
  const int64_t made = PlanCache::made();
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(Visit(bad), VisitEnd::kNotFinite);
    TensorMemoryScope::Trim();
    EXPECT_EQ(account->used(), kept);
  }
  ASSERT_EQ(Visit(good), VisitEnd::kDone);
  EXPECT_EQ(PlanCache::made(), made) << "other plans than those of before";
}

// An error in the middle of a step: what memory had room for before it has room for again.
TEST_F(KeptPlans, HoldNothingOfAStepThatFailed) {
  const Trainer good = Make("0.001");
  const OwnedAccount account = MemoryAccount::Create(int64_t{1} << 30);
  const TensorMemoryScope scope(account.get());
  PlanCache plans(int64_t{1} << 28);
  const PlanCacheScope caches(&plans);
  ASSERT_EQ(Visit(good), VisitEnd::kDone);
  TensorMemoryScope::Trim();
  const int64_t kept = account->used();
  int failed = 0;
  bool done = false;
  for (int64_t room = 0; !done; room += 32768) {
    // Something else has taken all but so much.
    const int64_t taken = account->limit() - kept - room;
    account->Add(taken);
    try {
      done = Visit(good) == VisitEnd::kDone;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
      ++failed;
    }
    account->Add(-taken);
    TensorMemoryScope::Trim();
    ASSERT_EQ(account->used(), kept) << room;
  }
  EXPECT_GT(failed, 3);
}

// What a cache counts is what the account counts, to the parts that it only estimates.
TEST_F(KeptPlans, CountTheirArenaAsTheAllocatorDoes) {
  const Objective objective = MakeObjective(Make("0.001").compile(), network_->spec(), data_.desc(),
                                            /*training=*/false);
  for (const int64_t batch : {1, 3, 33, 100, 1000}) {
    PlanKind kind;
    kind.network = network_;
    kind.options.batch = batch;
    kind.options.training = true;
    kind.options.linear = objective.linear;
    kind.objective = std::make_shared<const Objective>(objective);
    kind.backend = &Autograd();
    const OwnedAccount account = MemoryAccount::Create(int64_t{1} << 30);
    const TensorMemoryScope scope(account.get());
    PlanSet plans(kind);
    const int64_t before = plans.bytes();
    const int64_t used = account->used();
    plans.For(batch);
    TensorMemoryScope::Trim();
    EXPECT_GE(plans.bytes() - before, account->used() - used) << batch;
  }
}

TEST(NumericsClass, NamesWhatBitsDependOn) {
  const std::string text = NumericsClass("fp32");
  EXPECT_EQ(text.rfind("kernels ", 0), 0U) << text;
#ifdef __clang__
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  EXPECT_NE(text.find(" (" + compiler + ", "), std::string::npos) << text;
  const std::string planned =
      std::string("), ") + at::get_cpu_capability() + ", fp32, planned, 1 thread";
  EXPECT_NE(text.find(planned), std::string::npos) << text;
  // Where libtorch computes a part of it.
  const std::string torch = NumericsClass("fp32", 1, Autograd().Numerics());
  const std::string behind = std::string("), torch " TORCH_VERSION " (");
  EXPECT_NE(torch.find(behind), std::string::npos) << torch;
  EXPECT_EQ(torch.size(), text.size() + behind.size() + 8);
  const std::string bf16 = NumericsClass("bf16");
  const Bf16Kernels& kernels = Bf16KernelsHere();
  EXPECT_EQ(IsEmulated(Precision::kBf16), !kernels.native);
  EXPECT_NE(bf16.find(!kernels.native ? ", bf16 emulated, planned"
                      : kernels.tiles ? ", bf16 AMX, planned"
                                      : ", bf16, planned"),
            std::string::npos)
      << bf16;
}

}  // namespace
}  // namespace hopper
