// Constraints on weights, and what regularizers of weights and of activities add to the loss,
// against fit() and evaluate() of real Keras: through planned steps, through autograd, and in
// lanes.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

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

const BaselineTable& Table() {
  static const BaselineTable table("keras_penalties.safetensors");
  return table;
}

class KerasPenalties : public testing::TestWithParam<nlohmann::json> {
 protected:
  KerasPenalties()
      : spec_(ParseModel(GetParam()["architecture"].get<std::string>(), nullptr)),
        x_(Table().Get(GetParam(), "x")),
        y_(Table().Get(GetParam(), "y")) {
    at::set_num_threads(1);
    PackedBuffer buffer;
    buffer.n = static_cast<int32_t>(x_.shape[0]);
    buffer.x = x_.values.data();
    buffer.x_size = x_.values.size() * sizeof(float);
    buffer.y = y_.values.data();
    buffer.y_size = y_.values.size() * sizeof(float);
    checksum_ = BufferChecksum(0, 0, buffer.n, buffer.x, buffer.x_size, buffer.y, buffer.y_size);
    buffer.checksum = checksum_.bytes.data();
    data_ = std::make_unique<Dataset>(
        MakeDesc(ValueType::kFloat32, {x_.shape.begin() + 1, x_.shape.end()}, {}, x_.shape[0]));
    data_->AddBuffer(buffer);
    std::vector<ParamProblem> problems;
    trainer_ = std::make_unique<Trainer>(
        std::make_shared<const Network>(spec_),
        ParseCompileParams(
            "loss='mse', optimizer='" + GetParam()["optimizer"].get<std::string>() + "'",
            &problems),
        ParseFitParams("shuffle=False, batch_size=" + GetParam()["batch"].dump(), &problems),
        data_->desc(), Autograd(), 1);
    for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    std::vector<float> keras;
    for (int i = 0; i < BaselineTable::Count(GetParam(), "weights"); ++i) {
      const std::vector<float>& one = Table().Get(GetParam(), "weights", i).values;
      keras.insert(keras.end(), one.begin(), one.end());
    }
    CheckWeightCount(*spec_, static_cast<int64_t>(keras.size()));
    state_ = trainer_->InitialState(keras.data(), "class");
  }

  void ExpectLoss(const MetricSums& sums, double expected, const std::string& what) const {
    double loss = 0.0;
    std::vector<double> metrics;
    trainer_->Finish(sums, &loss, &metrics);
    EXPECT_NEAR(loss, expected, 1e-5 * (1.0 + expected)) << what;
  }

  double Running(size_t epoch) const { return Table().Get(GetParam(), "losses").values[epoch]; }
  static size_t Epochs() { return Table().Get(GetParam(), "losses").values.size(); }

  void ExpectWeights() const {
    std::vector<float> after(spec_->parameters);
    ExportWeights(*spec_, trainer_->KeptWeights(state_).data(), after.data());
    size_t offset = 0;
    for (int i = 0; i < BaselineTable::Count(GetParam(), "weights_after"); ++i) {
      const std::vector<float>& expected = Table().Get(GetParam(), "weights_after", i).values;
      EXPECT_LE(RelativeDifference(after.data() + offset, expected), 2e-5)
          << spec_->weights[i].name;
      offset += expected.size();
    }
  }

  void ExpectAlone() {
    for (size_t epoch = 0; epoch < Epochs(); ++epoch) {
      MetricSums sums;
      ASSERT_EQ(trainer_->Visit(&state_, data_->partition(0), 0, cancel_, &sums), VisitEnd::kDone);
      ++state_.iteration;
      ExpectLoss(sums, Running(epoch), "epoch " + std::to_string(epoch));
    }
    ExpectWeights();
    MetricSums sums;
    const AlignedArray<float> kept = trainer_->KeptWeights(state_);
    trainer_->Evaluate(kept.data(), data_->partition(0), cancel_, &sums);
    ExpectLoss(sums, GetParam()["evaluated"], "evaluation");
  }

  std::shared_ptr<const ModelSpec> spec_;
  const BaselineTensor& x_;
  const BaselineTensor& y_;
  Digest checksum_;
  std::unique_ptr<Dataset> data_;
  std::unique_ptr<Trainer> trainer_;
  ModelState state_;
  const std::atomic<bool> cancel_{false};
};

TEST_P(KerasPenalties, Planned) { ExpectAlone(); }

TEST_P(KerasPenalties, Autograd) {
  UsePlannedSteps(false);
  ExpectAlone();
  UsePlannedSteps(true);
}

TEST_P(KerasPenalties, Lanes) {
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
    ExpectLoss(visits[0].sums, Running(epoch), "epoch " + std::to_string(epoch));
  }
  array.Save({&state_});
  ExpectWeights();
  std::vector<MetricSums> sums;
  const AlignedArray<float> kept = trainer_->KeptWeights(state_);
  ASSERT_TRUE(array.Evaluate({kept.data(), kept.data()}, rows, cancel_, &sums));
  for (const MetricSums& one : sums) ExpectLoss(one, GetParam()["evaluated"], "evaluation");
}

INSTANTIATE_TEST_SUITE_P(All, KerasPenalties,
                         testing::ValuesIn(Table().cases().begin(), Table().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

}  // namespace
}  // namespace hopper
