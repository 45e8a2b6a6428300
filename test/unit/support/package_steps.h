// Training beside another package: batches in order, from the weights that its table has, by its
// losses of each step and the weights that it ends with.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

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

inline std::vector<nlohmann::json> RunsOf(const BaselineTable& table) {
  std::vector<nlohmann::json> runs;
  for (const nlohmann::json& one : table.cases()) {
    if (one.contains("architecture")) runs.push_back(one);
  }
  return runs;
}

// The case says "architecture", "batch", "epochs" and "classes" (0: labels are numbers).
class PackageSteps : public testing::TestWithParam<nlohmann::json> {
 protected:
  explicit PackageSteps(const BaselineTable& table)
      : table_(table),
        classes_(GetParam()["classes"]),
        spec_(ParseModel(GetParam()["architecture"].get<std::string>(), nullptr)),
        x_(table.Get(GetParam(), "x")) {
    at::set_num_threads(1);
    for (const float label : table.Get(GetParam(), "y").values) {
      if (classes_ == 0) y_.push_back(label);
      for (int i = 0; i < classes_; ++i) y_.push_back(i == static_cast<int>(label) ? 1.0F : 0.0F);
    }
    PackedBuffer buffer;
    buffer.n = static_cast<int32_t>(x_.shape[0]);
    buffer.x = x_.values.data();
    buffer.x_size = x_.values.size() * sizeof(float);
    buffer.y = y_.data();
    buffer.y_size = y_.size() * sizeof(float);
    checksum_ = BufferChecksum(0, 0, buffer.n, buffer.x, buffer.x_size, buffer.y, buffer.y_size);
    buffer.checksum = checksum_.bytes.data();
    LabelsDesc labels;
    if (classes_ > 0) {
      labels.kind = LabelKind::kArray;
      labels.shape = {classes_};
    }
    data_ = std::make_unique<Dataset>(
        MakeDesc(ValueType::kFloat32, {x_.shape[1]}, labels, x_.shape[0]));
    data_->AddBuffer(buffer);
  }

  // With the first weights of the table.
  void Begin(const std::string& compile_params) {
    std::vector<ParamProblem> problems;
    trainer_ = std::make_unique<Trainer>(
        std::make_shared<const Network>(spec_), ParseCompileParams(compile_params, &problems),
        ParseFitParams("shuffle=False, batch_size=" + GetParam()["batch"].dump(), &problems),
        data_->desc(), Autograd(), 1);
    for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
    const std::vector<float> weights = All("weights");
    CheckWeightCount(*spec_, static_cast<int64_t>(weights.size()));
    state_ = trainer_->InitialState(weights.data(), "class");
  }

  // A list of the table's tensors, one behind the other.
  std::vector<float> All(const char* what) const {
    std::vector<float> all;
    for (int i = 0; i < BaselineTable::Count(GetParam(), what); ++i) {
      const std::vector<float>& one = table_.Get(GetParam(), what, i).values;
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  // The mean of the losses of an epoch's steps.
  double Expected(size_t epoch) const {
    const std::vector<float>& losses = table_.Get(GetParam(), "losses").values;
    const size_t steps = losses.size() / Epochs();
    double sum = 0.0;
    for (size_t i = epoch * steps; i < (epoch + 1) * steps; ++i) sum += losses[i];
    return sum / static_cast<double>(steps);
  }
  static size_t Epochs() { return GetParam()["epochs"]; }

  void ExpectLoss(const MetricSums& sums, size_t epoch) const {
    const double loss = sums.loss / static_cast<double>(sums.examples);
    EXPECT_NEAR(loss, Expected(epoch), 2e-5 * (1.0 + Expected(epoch))) << "epoch " << epoch;
  }

  std::vector<float> Weights() const {
    std::vector<float> weights(spec_->parameters);
    ExportWeights(*spec_, state_.params.data(), weights.data());
    return weights;
  }

  void ExpectWeights() const {
    const std::vector<float> after = Weights();
    size_t offset = 0;
    for (int i = 0; i < BaselineTable::Count(GetParam(), "weights_after"); ++i) {
      const std::vector<float>& expected = table_.Get(GetParam(), "weights_after", i).values;
      EXPECT_LE(RelativeDifference(after.data() + offset, expected), 2e-4)
          << spec_->weights[i].name;
      offset += expected.size();
    }
  }

  void ExpectRun() {
    for (size_t epoch = 0; epoch < Epochs(); ++epoch) {
      MetricSums sums;
      ASSERT_EQ(trainer_->Visit(&state_, data_->partition(0), 0, cancel_, &sums), VisitEnd::kDone);
      ++state_.iteration;
      ExpectLoss(sums, epoch);
    }
    ExpectWeights();
  }

  void ExpectRunByAutograd() {
    UsePlannedSteps(false);
    ExpectRun();
    UsePlannedSteps(true);
  }

  void ExpectRunInLanes() {
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
      ExpectLoss(visits[0].sums, epoch);
    }
    array.Save({&state_});
    ExpectWeights();
  }

  const BaselineTable& table_;
  const int classes_;
  std::shared_ptr<const ModelSpec> spec_;
  const BaselineTensor& x_;
  std::vector<float> y_;
  Digest checksum_;
  std::unique_ptr<Dataset> data_;
  std::unique_ptr<Trainer> trainer_;
  ModelState state_;
  const std::atomic<bool> cancel_{false};
};

}  // namespace hopper
