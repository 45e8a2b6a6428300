// Numbers that a model file may have and no model needs: windows, strides and dilations up to
// 2^30 on images of a few cells. What is computed is what Keras' formula says, in a moment and
// within memory that the estimate counted.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/philox.h"
#include "base/product.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "support/cpu_clock.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

constexpr int64_t kBatch = 3;

std::vector<float> Random(size_t n, uint64_t seed) {
  const Philox philox(seed, Purpose::kSearch, 0, 0);
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = philox.Uniform(i) - 0.5F;
  return values;
}

struct Result {
  std::vector<float> output, inference, input_gradient, weights, gradients;
};

std::string OneLayer(const std::string& class_name, const Shape& input,
                     const std::string& attributes) {
  std::string shape = "null";
  for (const int64_t size : input) shape += ", " + std::to_string(size);
  return KerasSequential(
      {KerasLayer(class_name, "layer", "\"batch_input_shape\": [" + shape + "], " + attributes)});
}

// One step, planned and as libtorch computes it, which must agree.
Result RunStep(const std::string& json, Precision precision = Precision::kFp32) {
  const auto spec = ParseModel(json, nullptr);
  const Network network(spec);
  AlignedArray<float> flat(static_cast<size_t>(spec->flat_size));
  AlignedArray<float> gradients(static_cast<size_t>(spec->flat_size));
  AlignedArray<uint16_t> shadow(static_cast<size_t>(spec->flat_size));
  InitializeWeights(*spec, 7, flat.data());
  for (size_t i = 0; i < flat.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &flat[i], sizeof(bits));
    shadow[i] = static_cast<uint16_t>(bits >> 16);
  }
  const std::vector<float> input = Random(kBatch * ElementCount(spec->input_shape()), 1);
  PlanOptions options;
  options.batch = kBatch;
  options.precision = precision;
  StepArguments step;
  step.params = flat.data();
  step.gradients = gradients.data();
  step.shadow = shadow.data();
  Result result;
  const auto n = static_cast<size_t>(kBatch * ElementCount(spec->output_shape()));
  {
    StepPlan plan(network, options);
    plan.SetInput(input.data());
    plan.Forward(step);
    result.inference.assign(plan.output(), plan.output() + n);
  }
  options.training = options.input_gradient = true;
  PlanOptions measured = options;
  measured.measured_parts = 1;
  EXPECT_EQ(StepPlan(network, measured).arena_floats(), StepPlan(network, options).arena_floats());
  StepPlan plan(network, options);
  EXPECT_LT(plan.arena_floats(), int64_t{1} << 24);
  plan.SetInput(input.data());
  plan.Forward(step);
  result.output.assign(plan.output(), plan.output() + n);
  const std::vector<float> upstream = Random(n, 2);
  if (plan.output_gradient() != nullptr) {
    std::copy(upstream.begin(), upstream.end(), plan.output_gradient());
    plan.Backward(step);
    result.input_gradient.assign(plan.input_gradient(), plan.input_gradient() + input.size());
  }
  result.weights.assign(flat.data(), flat.data() + flat.size());
  result.gradients.assign(gradients.data(), gradients.data() + gradients.size());

  const at::NoGradGuard no_grad;
  std::vector<int64_t> sizes{kBatch};
  sizes.insert(sizes.end(), spec->input_shape().begin(), spec->input_shape().end());
  const at::Tensor x =
      at::from_blob(const_cast<float*>(input.data()), sizes, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor y =
      network.Forward(x, network.BindWeights(flat.data()), ForwardContext{}).contiguous();
  EXPECT_EQ(y.numel(), static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(y.const_data_ptr<float>()[i], result.inference[i], 2e-2F) << i;
  }
  return result;
}

class HostileSizes : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_LT(CpuSeconds() - start_, 20.0);  // without the rule: minutes, or a crash
  }
  double start_ = CpuSeconds();
};

std::string ConvText(int64_t kernel, int64_t strides, int64_t dilation,
                     const std::string& more = "") {
  return "\"filters\": 2, \"padding\": \"same\", \"kernel_size\": " + std::to_string(kernel) +
         ", \"strides\": " + std::to_string(strides) +
         ", \"dilation_rate\": " + std::to_string(dilation) + ", \"bias_initializer\": \"ones\"" +
         more;
}

// Padded axes of 2^32 cells, whose product is 0 in 64 bits; no cell of the window is ever over
// the image.
TEST_F(HostileSizes, WindowThatNeverMeetsTheImage) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const Result result =
        RunStep(OneLayer("Conv2D", {1, 1, 1}, ConvText(16, 1, 286331153)), precision);
    for (const float y : result.output) EXPECT_EQ(y, 1.0F);  // the bias
    for (const float dx : result.input_gradient) EXPECT_EQ(dx, 0.0F);
    for (int i = 0; i < 512; ++i) EXPECT_EQ(result.gradients[i], 0.0F) << i;
    EXPECT_NE(result.gradients[512], 0.0F);  // the bias'
  }
}

// Of a wide window only its middle meets the image: the same as a small one with those weights.
TEST_F(HostileSizes, OnlyTheMiddleOfTheWindowMeetsTheImage) {
  for (const int64_t dilation : {int64_t{5}, int64_t{30000}, int64_t{1} << 30}) {
    for (const int64_t stride : {int64_t{1}, int64_t{3}, int64_t{1} << 30}) {
      for (const int64_t size : {1, 4, 5}) {
        SCOPED_TRACE(testing::Message() << dilation << " " << stride << " " << size);
        // 45 weights a filter in [out][9][9][in / groups]: zero but for the middle
        const Result wide = RunStep(
            OneLayer("Conv2D", {size, size, 2}, ConvText(9, stride, dilation, R"(, "groups": 2)")));
        int used = 0;
        for (int i = 0; i < 2 * 81; ++i) used += wide.gradients[i] != 0.0F ? 1 : 0;
        EXPECT_LE(used, dilation == 5 ? 2 * 9 : 2) << "weights that meet the image";
        EXPECT_GE(used, 1);
      }
    }
  }
}

TEST_F(HostileSizes, PoolingWindowsOfTwoToTheThirty) {
  for (const char* kind : {"MaxPooling2D", "AveragePooling2D"}) {
    for (const char* strides : {"1", "2", "1073741824"}) {
      SCOPED_TRACE(std::string(kind) + " " + strides);
      const std::string attributes = std::string(R"("padding": "same", "strides": )") + strides;
      const Result wide =
          RunStep(OneLayer(kind, {4, 5, 2}, attributes + R"(, "pool_size": 1073741824)"));
      // A window that is just wide enough to hold the whole image from anywhere.
      const Result enough =
          RunStep(OneLayer(kind, {4, 5, 2}, attributes + R"(, "pool_size": [8, 10])"));
      EXPECT_EQ(wide.output, enough.output);
    }
  }
}

// Weights of the first `n` that get a gradient.
int Used(const Result& result, int n) {
  int used = 0;
  for (int i = 0; i < n; ++i) used += result.gradients[static_cast<size_t>(i)] != 0.0F ? 1 : 0;
  return used;
}

TEST_F(HostileSizes, OtherConvolutions) {
  for (const int64_t dilation : {int64_t{5}, int64_t{30000}, int64_t{1} << 28}) {
    for (const int64_t size : {1, 4, 5}) {
      SCOPED_TRACE(testing::Message() << dilation << " " << size);
      const std::string window =
          R"("padding": "same", "bias_initializer": "ones", "kernel_size": 9, "dilation_rate": )" +
          std::to_string(dilation);
      // Only the middle of each window meets the image: a weight a channel, of nine or 81.
      const std::string filters = R"("filters": 2, )" + window;
      EXPECT_EQ(Used(RunStep(OneLayer("Conv1D", {size, 2}, filters)), 4 * 9), 4);
      const std::string two_groups = filters + R"(, "groups": 2)";
      EXPECT_EQ(Used(RunStep(OneLayer("Conv1D", {size, 2}, two_groups)), 2 * 9), 2);
      EXPECT_EQ(Used(RunStep(OneLayer("DepthwiseConv2D", {size, size, 2}, window)), 2 * 81), 2);
      EXPECT_EQ(Used(RunStep(OneLayer("SeparableConv2D", {size, size, 2}, filters)), 2 * 81), 2);
      EXPECT_EQ(Used(RunStep(OneLayer("SeparableConv1D", {size, 2}, filters)), 2 * 9), 2);
    }
  }
}

TEST_F(HostileSizes, PoolingSeries) {
  for (const char* kind : {"MaxPooling1D", "AveragePooling1D"}) {
    for (const char* strides : {"1", "2", "1073741824"}) {
      SCOPED_TRACE(std::string(kind) + " " + strides);
      const std::string attributes = std::string(R"("padding": "same", "strides": )") + strides;
      EXPECT_EQ(RunStep(OneLayer(kind, {5, 2}, attributes + R"(, "pool_size": 1073741824)")).output,
                RunStep(OneLayer(kind, {5, 2}, attributes + R"(, "pool_size": 10)")).output);
    }
  }
}

// A model whose window reaches too far is refused.
void ExpectTooFar(const std::string& json) {
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(json, nullptr, &problems), nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code, ErrorCode::kLimitExceeded);
  EXPECT_NE(problems[0].message.find("reaches too far"), std::string::npos) << problems[0].message;
}

// What is laid in front of a series is bounded: 2^20 steps can be computed, one more is refused.
TEST_F(HostileSizes, CausalWindows) {
  const auto causal = [](int64_t kernel, int64_t dilation) {
    return OneLayer("Conv1D", {3, 1},
                    R"("filters": 1, "padding": "causal", "kernel_size": )" +
                        std::to_string(kernel) + R"(, "dilation_rate": )" +
                        std::to_string(dilation));
  };
  EXPECT_EQ(Used(RunStep(causal(2, 1 << 20)), 2), 1);
  ExpectTooFar(causal(2, (1 << 20) + 1));
  ExpectTooFar(causal(3, int64_t{1} << 30));
  ExpectTooFar(causal(int64_t{1} << 30, 1));
}

TEST_F(HostileSizes, TransposedWindows) {
  const auto spread = [](int64_t dilation) {
    return OneLayer(
        "Conv2DTranspose", {1, 1, 1},
        R"("filters": 1, "padding": "same", "kernel_size": [3, 1], "dilation_rate": [)" +
            std::to_string(dilation) + ", 1]");
  };
  EXPECT_EQ(Used(RunStep(spread(1 << 15)), 3), 1);
  ExpectTooFar(spread((1 << 15) + 1));
  ExpectTooFar(spread(int64_t{1} << 30));
}

// Products of sizes that no machine has: a number beyond all limits, not one that wrapped.
TEST_F(HostileSizes, SizesDoNotWrap) {
  EXPECT_EQ(Product({int64_t{1} << 32, int64_t{1} << 32}), INT64_MAX);
  EXPECT_EQ(PlanFloats({int64_t{1} << 32, int64_t{1} << 32}), kMostFloats);
  EXPECT_EQ(Product({3, 5}), 15);
  const auto spec =
      ParseModel(OneLayer("Conv2D", {1, int64_t{1} << 30, 1},
                          R"("filters": 1, "kernel_size": [1, 500000000], "strides": 2)"),
                 nullptr);
  const Network network(spec);
  PlanOptions options;
  options.batch = int64_t{1} << 31;
  options.training = true;
  options.measured_parts = 64;
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    options.precision = precision;
    EXPECT_GE(StepPlan(network, options).arena_floats(), kMostFloats);
  }
}

TEST_F(HostileSizes, TargetShapeThatWraps) {
  const Shape input{4};
  std::vector<Problem> problems;
  EXPECT_EQ(
      ParseModel(OneLayer("Reshape", {4}, R"("target_shape": [1073741824, 1073741824, 16, -1])"),
                 nullptr, &problems),
      nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].message.find("cannot take the shape"), std::string::npos)
      << problems[0].message;
}

}  // namespace
}  // namespace hopper
