// Labels at each step of which not all count, by masks of the output and by classes that the loss
// ignores, against fit() and evaluate() of real Keras: through planned steps, through autograd, and
// in lanes.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "autograd/lane_array.h"
#include "baseline_table.h"
#include "data/dataset.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "model/weights/storage.h"
#include "support/autograd.h"
#include "support/data_desc.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {
namespace {

const nlohmann::json& Tagging() {
  static const nlohmann::json table = nlohmann::json::parse(
      std::ifstream(std::string(HOPPER_TEST_DIR) + "/baseline/keras_tagging.json"));
  return table;
}

// All numbers of nested lists, as they lie in memory.
template <typename T>
std::vector<T> FlatOf(const nlohmann::json& lists) {
  if (!lists.is_array()) return {lists.get<T>()};
  std::vector<T> all;
  for (const nlohmann::json& one : lists) {
    const std::vector<T> own = FlatOf<T>(one);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::vector<int64_t> SizesOf(const nlohmann::json& lists) {
  std::vector<int64_t> sizes;
  for (const nlohmann::json* at = &lists; at->is_array(); at = &at->at(0)) {
    sizes.push_back(static_cast<int64_t>(at->size()));
  }
  return sizes;
}

struct TaggingCase {
  const char* name;
  const char* arguments;
  std::vector<std::string> metrics;  // as Keras calls them
};

const TaggingCase kCases[] = {
    {"mask",
     "loss='sparse_categorical_crossentropy', metrics=['accuracy', "
     "'sparse_categorical_crossentropy']",
     {"accuracy", "sparse_categorical_crossentropy"}},
    {"ignored",
     "loss=SparseCategoricalCrossentropy(ignore_class=1), metrics=['accuracy']",
     {"accuracy"}},
    {"both",
     "loss=SparseCategoricalCrossentropy(ignore_class=1), metrics=['accuracy']",
     {"accuracy"}},
    {"several",
     "loss='binary_crossentropy', metrics=['binary_accuracy', 'auc']",
     {"binary_accuracy", "auc"}},
    {"numbers", "loss='mse', metrics=['mae']", {"mae"}},
    {"rows",
     "loss=SparseCategoricalCrossentropy(ignore_class=1), metrics=['accuracy']",
     {"accuracy"}},
};

class KerasTagging : public testing::TestWithParam<TaggingCase> {
 protected:
  KerasTagging() : run_(Tagging()["runs"][GetParam().name]), keras_(run_["plain"]) {
    at::set_num_threads(1);
    const nlohmann::json& x = Tagging()["rows"][run_["x"].get<std::string>()];
    const nlohmann::json& y = Tagging()["rows"][run_["y"].get<std::string>()];
    const std::vector<int64_t> x_sizes = SizesOf(x), y_sizes = SizesOf(y);
    x_ = FlatOf<float>(x);
    LabelsDesc labels = {
        LabelKind::kArray, ValueType::kFloat32, {y_sizes.begin() + 1, y_sizes.end()}};
    if (y_sizes.size() == 1) labels = {LabelKind::kClass, ValueType::kInt16, {}, 3};
    const DataDesc desc =
        MakeDesc(ValueType::kFloat32, {x_sizes.begin() + 1, x_sizes.end()}, labels, x_sizes[0]);
    PackedBuffer buffer;
    buffer.n = static_cast<int32_t>(x_sizes[0]);
    buffer.x = x_.data();
    buffer.x_size = x_.size() * sizeof(float);
    if (y_sizes.size() == 1) {
      classes_ = FlatOf<int16_t>(y);
      buffer.y = classes_.data();
      buffer.y_size = classes_.size() * sizeof(int16_t);
    } else {
      y_ = FlatOf<float>(y);
      buffer.y = y_.data();
      buffer.y_size = y_.size() * sizeof(float);
    }
    checksum_ = BufferChecksum(0, 0, buffer.n, buffer.x, buffer.x_size, buffer.y, buffer.y_size);
    buffer.checksum = checksum_.bytes.data();
    data_ = std::make_unique<Dataset>(desc);
    data_->AddBuffer(buffer);
    std::vector<ParamProblem> problems;
    const auto spec = ParseModel(run_["architecture"].get<std::string>(), nullptr);
    EXPECT_TRUE(spec->warnings.empty());
    trainer_ = std::make_unique<Trainer>(
        std::make_shared<const Network>(spec),
        ParseCompileParams(std::string(GetParam().arguments) + ", optimizer='SGD(lr=0.5)'",
                           &problems),
        ParseFitParams("shuffle=False, batch_size=20", &problems), data_->desc(), Autograd(), 1);
    for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    before_ = FlatOf<float>(run_["weights"]);
    CheckWeightCount(*spec, static_cast<int64_t>(before_.size()));
    state_ = trainer_->InitialState(before_.data(), "class");
  }

  void ExpectValues(const MetricSums& sums, double expected, const std::string& what,
                    const nlohmann::json& evaluated = {}) const {
    double loss = 0.0;
    std::vector<double> metrics;
    trainer_->Finish(sums, &loss, &metrics);
    EXPECT_NEAR(loss, expected, 1e-5 * (1.0 + expected)) << what;
    for (size_t i = 0; i < metrics.size() && !evaluated.is_null(); ++i) {
      EXPECT_NEAR(metrics[i], evaluated[GetParam().metrics[i]].get<double>(), 2e-5) << what;
    }
  }

  double Running(size_t epoch) const { return keras_["losses"][epoch]; }
  size_t Epochs() const { return keras_["losses"].size(); }

  // In shares of what has changed most.
  void ExpectWeights() const {
    const ModelSpec& spec = trainer_->network().spec();
    std::vector<float> after(static_cast<size_t>(spec.parameters));
    ExportWeights(spec, state_.params.data(), after.data());
    const std::vector<float> expected = FlatOf<float>(keras_["weights_after"]);
    ASSERT_EQ(expected.size(), after.size());
    float change = 0.0F, difference = 0.0F;
    for (size_t i = 0; i < after.size(); ++i) {
      change = std::max(change, std::abs(expected[i] - before_[i]));
      difference = std::max(difference, std::abs(expected[i] - after[i]));
    }
    EXPECT_LE(difference, 1e-4F * change);
  }

  void ExpectAlone() {
    for (size_t epoch = 0; epoch < Epochs(); ++epoch) {
      MetricSums sums;
      ASSERT_EQ(trainer_->Visit(&state_, data_->partition(0), 0, cancel_, &sums), VisitEnd::kDone);
      ++state_.iteration;
      ExpectValues(sums, Running(epoch), "epoch " + std::to_string(epoch));
    }
    ExpectWeights();
    MetricSums sums;
    trainer_->Evaluate(state_.params.data(), data_->partition(0), cancel_, &sums);
    ExpectValues(sums, keras_["evaluated"]["loss"], "evaluation", keras_["evaluated"]);
  }

  const nlohmann::json& run_;
  const nlohmann::json& keras_;
  std::vector<float> x_, y_, before_;
  std::vector<int16_t> classes_;
  Digest checksum_;
  std::unique_ptr<Dataset> data_;
  std::unique_ptr<Trainer> trainer_;
  ModelState state_;
  const std::atomic<bool> cancel_{false};
};

TEST_P(KerasTagging, Planned) { ExpectAlone(); }

TEST_P(KerasTagging, Autograd) {
  UsePlannedSteps(false);
  ExpectAlone();
  UsePlannedSteps(true);
}

TEST_P(KerasTagging, Lanes) {
  const std::unique_ptr<LaneDevice> device = MakeCpuLaneDevice();
  const LaneData rows(*data_, device.get());
  LaneOptions options;
  options.lanes = 2;
  LaneArray array(*trainer_, data_->desc(), options, device.get());
  for (int lane = 0; lane < 2; ++lane) array.Load(lane, *trainer_, state_);
  for (size_t epoch = 0; epoch < Epochs(); ++epoch) {
    std::vector<LaneVisit> visits{{trainer_.get(), &state_, 0, {}, VisitEnd::kDone}};
    array.Train(&visits, rows, cancel_, true);
    ASSERT_EQ(visits[0].end, VisitEnd::kDone);
    ++state_.iteration;
    ExpectValues(visits[0].sums, Running(epoch), "epoch " + std::to_string(epoch));
  }
  array.Save({&state_});
  ExpectWeights();
  std::vector<MetricSums> sums;
  ASSERT_TRUE(array.Evaluate({state_.params.data(), state_.params.data()}, rows, cancel_, &sums));
  for (const MetricSums& one : sums) {
    ExpectValues(one, keras_["evaluated"]["loss"], "evaluation", keras_["evaluated"]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasTagging, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hopper
