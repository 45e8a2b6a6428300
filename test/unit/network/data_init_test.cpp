// Weights that a layer makes of the first batch that it trains on.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/philox.h"
#include "model/layers/ntk_dense/ntk_dense.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"

namespace hopper {
namespace {

constexpr int64_t kInitRows = 50, kInitInputs = 7, kInitUnits = 12;

const char* const kInitModel = R"({"class_name": "Sequential", "config": {"layers": [
    {"class_name": "NTKDense", "registered_name": "model_hopper>NTKDense", "config": {
     "name": "first", "batch_input_shape": [null, 7], "units": 12, "activation": "selu",
     "kernel_data_init": "std", "bias_data_init": "he+5"}},
    {"class_name": "model_hopper>NTKDense", "config": {"name": "second", "units": 12,
     "kernel_data_init": "std", "bias_data_init": "he+5"}}]}})";

class DataInit : public testing::Test {
 protected:
  DataInit()
      : network_(ParseModel(kInitModel, nullptr)),
        spec_(network_.spec()),
        flat_(static_cast<size_t>(spec_.flat_size)),
        gradients_(static_cast<size_t>(spec_.flat_size)),
        x_(kInitRows * kInitInputs) {
    InitializeWeights(spec_, 3, flat_.data());
    const Philox random(1, Purpose::kPack, 0, 0);
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = 4.0F * random.Uniform(i) + 1.0F;
  }

  std::vector<float> Forward(bool training) {
    PlanOptions options;
    options.batch = kInitRows;
    options.training = training;
    StepPlan plan(network_, options);
    StepArguments step;
    step.params = flat_.data();
    step.gradients = gradients_.data();
    plan.SetInput(x_.data());
    plan.Forward(step);
    return {plan.output(), plan.output() + kInitRows * kInitUnits};
  }

  std::vector<float> Weights() const {
    std::vector<float> weights(static_cast<size_t>(spec_.parameters));
    ExportWeights(spec_, flat_.data(), weights.data());
    return weights;
  }

  const Network network_;
  const ModelSpec& spec_;
  AlignedArray<float> flat_;
  AlignedArray<float> gradients_;
  std::vector<float> x_;
};

// Each unit's output has deviation 1, and minus its bias is a mean of what it gives without.
TEST_F(DataInit, MakesUnitsOfDeviationOne) {
  const std::vector<float> y = Forward(true);
  const float* bias = flat_.data() + spec_.weights[4].offset;
  for (int64_t j = 0; j < kInitUnits; ++j) {
    double mean = 0.0, squares = 0.0;
    float least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < kInitRows; ++i) {
      const float value = y[static_cast<size_t>(i * kInitUnits + j)];
      mean += value / static_cast<double>(kInitRows);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    for (int64_t i = 0; i < kInitRows; ++i) {
      const double difference = y[static_cast<size_t>(i * kInitUnits + j)] - mean;
      squares += difference * difference / static_cast<double>(kInitRows);
    }
    EXPECT_NEAR(std::sqrt(squares), 1.0, 1e-4);
    EXPECT_LT(least, 0.0F);  // where the mean of five rows lies
    EXPECT_GT(most, 0.0F);
    EXPECT_NE(bias[j], 0.0F);
  }
}

// Once, in training alone: loaded weights, which say that they are made, stay as they are.
TEST_F(DataInit, HappensOnce) {
  const std::vector<float> drawn = Weights();
  Forward(false);
  EXPECT_EQ(Weights(), drawn);
  Forward(true);
  const std::vector<float> made = Weights();
  EXPECT_NE(made, drawn);
  for (float& value : x_) value *= 3.0F;
  Forward(true);
  EXPECT_EQ(Weights(), made);
}

TEST_F(DataInit, IsTheSameByAutograd) {
  const std::vector<float> drawn = Weights();
  Forward(true);
  const std::vector<float> made = Weights();
  ImportWeights(spec_, drawn.data(), flat_.data());
  std::vector<at::Tensor> weights = network_.BindWeights(flat_.data());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (spec_.weights[i].trainable) weights[i].set_requires_grad(true);
  }
  ForwardContext context;
  context.training = true;
  const at::AutoGradMode gradients(true);
  const at::Tensor x = at::from_blob(x_.data(), {kInitRows, kInitInputs}, at::kFloat);
  network_.Forward(x, weights, context).sum().backward();
  const std::vector<float> other = Weights();
  for (size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(other[i], made[i], 2e-5) << i;
}

TEST(RandomMeans, AreOfTheSimplex) {
  const layers::RandomMeans means = layers::DrawMeans(4, 30, 100);
  for (size_t unit = 0; unit < 100; ++unit) {
    double sum = 0.0;
    for (size_t i = 5 * unit; i < 5 * unit + 5; ++i) {
      sum += means.shares[i];
      EXPECT_GE(means.rows[i], 0);
      EXPECT_LT(means.rows[i], 30);
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

}  // namespace
}  // namespace hopper
