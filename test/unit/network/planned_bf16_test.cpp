// Planned steps in bf16. One layer at a time against the fp32 plan of operands that were rounded
// beforehand: the same products, so that nothing but the order of float32 sums may differ. Whole
// models against the fp32 plan within what rounding allows.
#include "model/planned/planned_bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/bf16.h"
#include "base/philox.h"
#include "baseline_table.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "network/random_model.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

AlignedArray<float> RandomBf16(int64_t n, uint32_t stream) {
  const Philox random(9, Purpose::kSearch, stream, 0);
  AlignedArray<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.Uniform(i) * 2.0F - 1.0F;
  return values;
}

AlignedArray<uint16_t> ShadowOf(const AlignedArray<float>& params) {
  AlignedArray<uint16_t> shadow(params.size());
  for (size_t i = 0; i < params.size(); ++i) shadow[i] = ToBf16(params[i]);
  return shadow;
}

AlignedArray<float> Rounded(const AlignedArray<float>& values) {
  AlignedArray<float> rounded(values.size());
  for (size_t i = 0; i < values.size(); ++i) rounded[i] = FromBf16(ToBf16(values[i]));
  return rounded;
}

std::vector<float> Copy(const float* values, size_t n) { return {values, values + n}; }

// What a step leaves behind.
struct StepResult {
  std::vector<float> output;
  std::vector<float> gradients;  // as ModelSpec lays weights out
  std::vector<float> input_gradient;
};

StepResult Step(const Network& network, int64_t batch, Precision precision,
                AlignedArray<float>* params, const AlignedArray<uint16_t>& shadow,
                const AlignedArray<float>& input, const AlignedArray<float>& upstream) {
  const ModelSpec& spec = network.spec();
  PlanOptions options;
  options.batch = batch;
  options.training = true;
  options.input_gradient = true;
  options.seed = 11;
  options.precision = precision;
  options.bf16_everywhere = true;
  StepPlan plan(network, options);
  AlignedArray<float> gradients(static_cast<size_t>(spec.flat_size));
  StepArguments step;
  step.params = params->data();
  step.gradients = gradients.data();
  step.shadow = shadow.data();
  step.step = 5;
  plan.SetInput(input.data());
  StepResult result;
  // Memory is shared between buffers and steps: the second pass must not see the first one's.
  for (int pass = 0; pass < 2; ++pass) {
    std::fill_n(gradients.data(), gradients.size(), NAN);
    plan.Forward(step);
    result.output = Copy(plan.output(), upstream.size());
    std::memcpy(plan.output_gradient(), upstream.data(), upstream.size() * sizeof(float));
    plan.Backward(step);
  }
  result.gradients = Copy(gradients.data(), gradients.size());
  result.input_gradient = Copy(plan.input_gradient(), input.size());
  return result;
}

std::string Bf16ConvText(int height, int width, int in, int filters, int kernel_height,
                         int kernel_width, int stride, bool same, const std::string& activation) {
  const auto text = [](int value) { return std::to_string(value); };
  return KerasSequential({KerasLayer(
      "Conv2D", "conv",
      "\"batch_input_shape\": [null, " + text(height) + ", " + text(width) + ", " + text(in) +
          "], \"filters\": " + text(filters) + ", \"kernel_size\": [" + text(kernel_height) + ", " +
          text(kernel_width) + "], \"strides\": [" + text(stride) + ", " + text(stride) +
          "], \"padding\": \"" + (same ? "same" : "valid") + "\", \"activation\": \"" + activation +
          "\", \"bias_initializer\": \"glorot_uniform\"")});
}

std::string DenseText(const std::string& input, int units, const std::string& activation) {
  return KerasSequential(
      {KerasDense("dense", units, activation, "\"batch_input_shape\": [null, " + input + "]")});
}

std::vector<std::string> Layers() {
  std::vector<std::string> layers = {
      DenseText("1", 1, "linear"),  DenseText("7", 5, "linear"),    DenseText("64", 1, "linear"),
      DenseText("33", 130, "relu"), DenseText("300", 17, "linear"), DenseText("5, 6", 9, "tanh"),
  };
  for (const bool same : {true, false}) {
    for (const int stride : {1, 2, 3}) {
      layers.push_back(Bf16ConvText(8, 8, 1, 5, 3, 3, stride, same, "linear"));
      layers.push_back(Bf16ConvText(7, 10, 3, 16, 3, 3, stride, same, "relu"));
      layers.push_back(Bf16ConvText(9, 6, 4, 33, 2, 5, stride, same, "linear"));
      layers.push_back(Bf16ConvText(6, 7, 70, 7, 1, 1, stride, same, "linear"));
      layers.push_back(Bf16ConvText(5, 5, 2, 80, 5, 4, stride, same, "tanh"));
    }
  }
  return layers;
}

class Bf16Layer : public testing::TestWithParam<std::string> {
 protected:
  static constexpr double kTolerance = 2e-5;
  static constexpr int64_t kBatch = 3;
};

TEST_P(Bf16Layer, MultipliesRoundedOperands) {
  SCOPED_TRACE(GetParam());
  const Network network(ParseModel(GetParam(), nullptr));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> params = RandomBf16(spec.flat_size, 1);
  const AlignedArray<float> input = RandomBf16(kBatch * ElementCount(spec.input_shape()), 2);
  const AlignedArray<float> upstream = RandomBf16(kBatch * ElementCount(spec.output_shape()), 3);
  const StepResult bf16 =
      Step(network, kBatch, Precision::kBf16, &params, ShadowOf(params), input, upstream);
  const StepResult fp32 = Step(network, kBatch, Precision::kFp32, &params, {}, input, upstream);

  // The kernel and the input rounded, the bias as it is.
  const WeightSpec& kernel = spec.weights[0];
  const WeightSpec& bias = spec.weights[1];
  AlignedArray<float> rounded = Rounded(params);
  std::copy_n(params.data() + bias.offset, bias.size(), rounded.data() + bias.offset);
  const AlignedArray<float> rounded_input = Rounded(input);
  StepResult expected =
      Step(network, kBatch, Precision::kFp32, &rounded, {}, rounded_input, upstream);
  EXPECT_LE(RelativeDifference(bf16.output.data(), expected.output), kTolerance);
  EXPECT_GE(RelativeDifference(bf16.output.data(), fp32.output), 1e-4) << "nothing was rounded";
  const auto part = [](const StepResult& result, const WeightSpec& weight) {
    return Copy(result.gradients.data() + weight.offset, static_cast<size_t>(weight.size()));
  };
  // The bias' gradient is a sum, not a product.
  EXPECT_LE(RelativeDifference(part(bf16, bias).data(), part(expected, bias)), kTolerance);

  // Behind the activation the gradient is rounded, too: without one it is the upstream's, and
  // through relu and tanh it is found from the output.
  AlignedArray<float> gradient(upstream.size());
  const bool tanh = GetParam().find("tanh") != std::string::npos;
  const bool relu = GetParam().find("relu") != std::string::npos;
  for (size_t i = 0; i < gradient.size(); ++i) {
    const float y = bf16.output[i];
    const float slope = tanh ? 1.0F - y * y : (relu && y <= 0.0F ? 0.0F : 1.0F);
    gradient[i] = upstream[i] * slope;
  }
  std::string linear = GetParam();
  for (const char* name : {"\"tanh\"", "\"relu\""}) {
    const size_t at = linear.find(name);
    if (at != std::string::npos) linear.replace(at, 6, "\"linear\"");
  }
  const Network linear_network(ParseModel(linear, nullptr));
  expected = Step(linear_network, kBatch, Precision::kFp32, &rounded, {}, rounded_input,
                  Rounded(gradient));
  // A gradient at a tie may round the other way where the activation was computed otherwise.
  const double tolerance = tanh ? 2e-3 : kTolerance;
  EXPECT_LE(RelativeDifference(part(bf16, kernel).data(), part(expected, kernel)), tolerance);
  EXPECT_LE(RelativeDifference(bf16.input_gradient.data(), expected.input_gradient), tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, Bf16Layer, testing::ValuesIn(Layers()),
                         [](const auto& info) { return std::to_string(info.index); });

// ||a - b|| / ||b||
double NormDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return size > 0.0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

// A rounded number is off by 2^-8 of itself at most, a product of two by 2^-7; a path through a
// model and back meets some sixteen products. Cancellation is not in this bound, random signs of
// the errors are neither.
constexpr double kModelTolerance = 16.0 / 128.0;

class Bf16Model : public testing::TestWithParam<int> {};

TEST_P(Bf16Model, IsNearFp32) {
  const std::string json = RandomModelJson(GetParam());
  SCOPED_TRACE(json);
  const Network network(ParseModel(json, nullptr));
  const ModelSpec& spec = network.spec();
  const int64_t batch = 8;
  AlignedArray<float> params(static_cast<size_t>(spec.flat_size));
  InitializeWeights(spec, 3, params.data());
  AlignedArray<float> other = params.Clone();
  const AlignedArray<float> input = RandomBf16(batch * ElementCount(spec.input_shape()), 2);
  const AlignedArray<float> upstream = RandomBf16(batch * ElementCount(spec.output_shape()), 3);
  const AlignedArray<uint16_t> shadow = ShadowOf(params);
  const StepResult bf16 = Step(network, batch, Precision::kBf16, &params, shadow, input, upstream);
  const StepResult fp32 = Step(network, batch, Precision::kFp32, &other, {}, input, upstream);
  EXPECT_LE(NormDifference(bf16.output, fp32.output), kModelTolerance);
  const auto weights = [&](const StepResult& result) {
    std::vector<float> all;
    for (const WeightSpec& weight : spec.weights) {
      if (weight.slot_offset < 0) continue;
      const float* from = result.gradients.data() + weight.offset;
      all.insert(all.end(), from, from + weight.size());
    }
    return all;
  };
  EXPECT_LE(NormDifference(weights(bf16), weights(fp32)), kModelTolerance);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Bf16Model, testing::Range(0, 30));

// Which products take rounded operands is a function of their sizes and of the class.
TEST(Bf16Plan, SmallProductsStayInFloat32) {
  PlanNode node;
  EXPECT_FALSE(RoundsOperands(node, 4096, 4096, 4096)) << "not in fp32";
  Bf16Kernels tiles = *BaselineBf16Kernels();
  tiles.tiles = true;
  Bf16Kernels vectors = tiles;
  vectors.tiles = false;
  struct Sizes {
    int64_t rows, columns, length;
    bool tiles, vectors;
  };
  for (const Sizes& p : {Sizes{8, 10, 4, false, false}, Sizes{8, 10, 256, false, false},
                         Sizes{8, 32, 64, true, false}, Sizes{32, 10, 32, false, false},
                         Sizes{32, 32, 64, true, false}, Sizes{32, 64, 64, true, true},
                         Sizes{256, 128, 64, true, true}, Sizes{256, 1, 64, false, false},
                         Sizes{2048, 16, 9, false, false}, Sizes{32768, 32, 27, true, true},
                         Sizes{512, 64, 64, true, true}, Sizes{1 << 20, 256, 4, false, false}}) {
    SCOPED_TRACE(testing::Message() << p.rows << " x " << p.columns << ", " << p.length);
    node.bf16_everywhere = false;
    node.bf16 = &tiles;
    EXPECT_EQ(RoundsOperands(node, p.rows, p.columns, p.length), p.tiles);
    node.bf16 = &vectors;
    EXPECT_EQ(RoundsOperands(node, p.rows, p.columns, p.length), p.vectors);
    node.bf16_everywhere = true;
    EXPECT_TRUE(RoundsOperands(node, p.rows, p.columns, p.length));
  }
}

// What no product reads is not rounded, neither by the first step nor by the optimizer.
TEST(Bf16Plan, WeightsAreRoundedWhereAProductReadsThem) {
  PlanOptions options;
  options.precision = Precision::kBf16;
  options.training = true;
  for (const bool large : {false, true}) {
    options.batch = large ? 256 : 1;
    for (const std::string& json :
         {DenseText("64", 64, "relu"), Bf16ConvText(8, 8, 16, 32, 3, 3, 1, true, "relu"),
          KerasSequential({KerasLayer(
              "SeparableConv2D", "a",
              R"("filters": 64, "kernel_size": 3, "batch_input_shape": [null, 3, 3, 64])")})}) {
      const Network network(ParseModel(json, nullptr));
      const bool conv = json.find("\"Conv2D\"") != std::string::npos;
      EXPECT_EQ(StepPlan(network, options).reads_shadow(), large || conv) << json;
    }
  }
}

// The convolution of each channel stays in float32, that of the pixels takes rounded operands: in
// both precisions bit for bit what the two layers compute one after the other.
TEST(Bf16Plan, ASeparableConvolutionIsItsTwoParts) {
  const std::string input = R"("batch_input_shape": [null, 7, 9, 19])";
  const std::string window = R"("kernel_size": 3, "padding": "same", "strides": [2, 2], )";
  const Network whole(ParseModel(
      KerasSequential({KerasLayer("SeparableConv2D", "a",
                                  R"("filters": 37, "activation": "tanh", )" + window + input)}),
      nullptr));
  const Network parts(ParseModel(
      KerasSequential(
          {KerasLayer("DepthwiseConv2D", "a", R"("use_bias": false, )" + window + input),
           KerasLayer("Conv2D", "b", R"("filters": 37, "kernel_size": 1, "activation": "tanh")")}),
      nullptr));
  ASSERT_EQ(whole.spec().flat_size, parts.spec().flat_size);
  AlignedArray<float> params = RandomBf16(whole.spec().flat_size, 1);
  const AlignedArray<float> x = RandomBf16(5 * ElementCount(whole.spec().input_shape()), 2);
  const AlignedArray<float> upstream = RandomBf16(5 * ElementCount(whole.spec().output_shape()), 3);
  StepResult results[2];
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const bool half = precision == Precision::kBf16;
    const AlignedArray<uint16_t> shadow = ShadowOf(params);
    const StepResult one = Step(whole, 5, precision, &params, shadow, x, upstream);
    const StepResult two = Step(parts, 5, precision, &params, shadow, x, upstream);
    EXPECT_EQ(one.output, two.output);
    for (const WeightSpec& weight : whole.spec().weights) {
      const auto of = [&](const StepResult& result) {
        return Copy(result.gradients.data() + weight.offset, static_cast<size_t>(weight.size()));
      };
      EXPECT_EQ(of(one), of(two)) << weight.name;
    }
    EXPECT_EQ(one.input_gradient, two.input_gradient);
    results[half ? 1 : 0] = one;
  }
  EXPECT_NE(results[0].output, results[1].output);
  EXPECT_LE(NormDifference(results[1].output, results[0].output), 1.0 / 64);
}

TEST(Bf16Plan, ReadsKernelsFromTheShadowAndBiasesFromTheParameters) {
  const Network network(ParseModel(DenseText("6", 4, "linear"), nullptr));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> params = RandomBf16(spec.flat_size, 1);
  const AlignedArray<uint16_t> shadow = ShadowOf(params);
  const AlignedArray<float> input = RandomBf16(6, 2);
  const AlignedArray<float> upstream = RandomBf16(4, 3);
  const auto step = [&](const AlignedArray<uint16_t>& with) {
    return Step(network, 1, Precision::kBf16, &params, with, input, upstream);
  };
  const StepResult before = step(shadow);
  // Nobody reads the kernel's float32 values.
  std::fill_n(params.data() + spec.weights[0].offset, spec.weights[0].size(), NAN);
  EXPECT_EQ(step(shadow).output, before.output);
  EXPECT_EQ(step(shadow).input_gradient, before.input_gradient);
  params[static_cast<size_t>(spec.weights[1].offset)] += 1.0F;
  EXPECT_NE(step(shadow).output, before.output);
}

}  // namespace
}  // namespace hopper
