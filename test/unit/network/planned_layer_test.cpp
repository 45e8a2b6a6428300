// Planned steps: every layer in several settings against real Keras, as the autograd path in
// keras_layer_test.cpp; and whole models of random shape against the autograd path.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/philox.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "network/keras_cases.h"
#include "network/random_model.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

class PlannedKerasLayer : public KerasCase {
 protected:
  PlannedKerasLayer() : gradients_(spec_->flat_size), input_(Expected("input")) {
    options_.batch = input_.shape[0];
    step_.params = flat_.data();
    step_.gradients = gradients_.data();
  }

  AlignedArray<float> gradients_;
  const BaselineTensor& input_;
  PlanOptions options_;
  StepArguments step_;
};

TEST_P(PlannedKerasLayer, Inference) {
  StepPlan plan(network_, options_);
  plan.SetInput(input_.values.data());
  plan.Forward(step_);
  EXPECT_LE(RelativeDifference(plan.output(), Expected("inference").values), kTolerance);
}

TEST_P(PlannedKerasLayer, Training) {
  options_.training = true;
  options_.input_gradient = true;
  StepPlan plan(network_, options_);
  plan.SetInput(input_.values.data());
  // Memory is shared between buffers and steps: the second pass must not see the first one's.
  for (int pass = 0; pass < 2; ++pass) {
    TakeKerasWeights();
    std::fill_n(gradients_.data(), gradients_.size(), NAN);
    double penalty = 0.0;
    step_.penalty = &penalty;
    plan.Forward(step_);
    penalty /= static_cast<double>(options_.batch);
    EXPECT_NEAR(penalty, Penalty(), kTolerance * (1.0 + Penalty()));
    EXPECT_LE(RelativeDifference(plan.output(), Expected("output").values), kTolerance) << "output";
    const std::vector<float>& upstream = Expected("upstream").values;
    std::memcpy(plan.output_gradient(), upstream.data(), upstream.size() * sizeof(float));
    plan.Backward(step_);
    EXPECT_LE(RelativeDifference(plan.input_gradient(), Expected("input_gradient").values),
              kTolerance)
        << "gradient of the input";
    int next = 0;
    for (const WeightSpec& weight : spec_->weights) {
      if (!weight.trainable) continue;
      ASSERT_LT(next, Count("gradients"));
      std::vector<float> gradient(weight.size());
      LoadWeight(weight, gradients_.data() + weight.offset, gradient.data());
      EXPECT_LE(RelativeDifference(gradient.data(), Expected("gradients", next++).values),
                kTolerance)
          << "gradient of " << weight.name;
    }
    EXPECT_EQ(next, Count("gradients"));
  }
  ExpectWeightsAfter();
}

INSTANTIATE_TEST_SUITE_P(All, PlannedKerasLayer, testing::ValuesIn(Cases()),
                         [](const auto& info) { return CaseName(info.param.json); });

// Which of Keras' layers run without autograd is part of what planned steps promise. Layers of the
// other tables may.
TEST(StepPlan, LayersThatNeedNoAutograd) {
  std::vector<std::string> through_autograd;
  for (const Case& the_case : Cases()) {
    if (the_case.table != &Tables().at("keras_layers.safetensors")) continue;
    const Network network(ParseModel(the_case.json["architecture"].get<std::string>(), nullptr));
    PlanOptions options;
    options.training = true;
    if (StepPlan(network, options).autograd_nodes() > 0) {
      through_autograd.push_back(the_case.json["name"]);
    }
  }
  EXPECT_EQ(through_autograd,
            (std::vector<std::string>{"activation_sparsemax", "softmax_two_axes", "spectral_dense",
                                      "spectral_no_bias", "spectral_conv", "spectral_transposed",
                                      "spectral_series", "spectral_twice"}));
}

// Recurrent layers, normalizations and attention have planned forms, also with masks (but for what
// comes behind Masking, which has none itself). What of these goes through autograd: other
// activations than Keras' own, a GRU that resets before its product, directions that are not
// concatenated, and normalization along axes that are not the last ones; ZeroPadding1D and
// GlobalAveragePooling1D with a mask are what two cases of attention have beside it.
TEST(StepPlan, SeriesThatNeedNoAutograd) {
  std::vector<std::string> through_autograd;
  for (const Case& the_case : Cases()) {
    if (the_case.table != &Tables().at("keras_layers_series.safetensors")) continue;
    const std::string name = the_case.json["name"];
    bool meant = false;
    for (const char* part : {"lstm", "gru", "simple_rnn", "both_ways", "layer_norm", "heads"}) {
      meant |= name.find(part) != std::string::npos;
    }
    for (const char* other : {"gaps_", "time_distributed", "conv_lstm"}) {
      meant &= name.rfind(other, 0) != 0;
    }
    if (!meant) continue;
    const Network network(ParseModel(the_case.json["architecture"].get<std::string>(), nullptr));
    PlanOptions options;
    options.training = true;
    if (StepPlan(network, options).autograd_nodes() > 0) through_autograd.push_back(name);
  }
  std::sort(through_autograd.begin(), through_autograd.end());
  EXPECT_EQ(
      through_autograd,
      (std::vector<std::string>{
          "both_ways_ave", "both_ways_mul", "both_ways_sum", "gru_long_hard_sigmoid", "gru_relu",
          "gru_reset_before", "gru_reset_before_no_bias", "heads_causal_longer_values",
          "ids_heads_masked", "layer_norm_axes_1_3", "layer_norm_axis_1", "layer_norm_first_axes",
          "lstm_hard_sigmoid", "lstm_long_hard_sigmoid", "lstm_relu"}));
}

// max|a - b| over `n` values, relative to the largest |b| or to `size` where that is more.
double Difference(const float* a, const double* b, int64_t n, double size = 0.0) {
  double most = size;
  double difference = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!std::isfinite(d)) return INFINITY;
    difference = std::max(difference, d);
    most = std::max(most, std::abs(b[i]));
  }
  return most > 0.0 ? difference / most : difference;
}

// Forward, backward and moving statistics of a model, planned and through autograd: in float64, so
// that the difference is the rounding of the one alone, where no layer has float32 of its own.
void ExpectPlannedAgrees(const std::string& json, int64_t batch, int seed,
                         at::ScalarType reference = at::kDouble) {
  SCOPED_TRACE(json);
  const Network network(ParseModel(json, nullptr));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> flat(spec.flat_size);
  InitializeWeights(spec, 3, flat.data());
  AlignedArray<float> planned_flat = flat.Clone();
  const Philox random(static_cast<uint64_t>(seed), Purpose::kSearch, 7, 0);
  AlignedArray<float> input(static_cast<size_t>(batch * ElementCount(spec.input_shape())));
  for (size_t i = 0; i < input.size(); ++i) input[i] = random.Uniform(i) * 2.0F - 1.0F;
  const int64_t outputs = batch * ElementCount(spec.output_shape());
  AlignedArray<float> upstream(static_cast<size_t>(outputs));
  for (size_t i = 0; i < upstream.size(); ++i) {
    upstream[i] = random.Uniform(1000000 + i) * 2.0F - 1.0F;
  }

  const auto sizes = [&](const Shape& shape) {
    std::vector<int64_t> all{batch};
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
  };
  std::vector<at::Tensor> weights = network.BindWeights(flat.data());
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = weights[i].to(reference, /*non_blocking=*/false, /*copy=*/true);
    if (spec.weights[i].slot_offset >= 0) weights[i].set_requires_grad(true);
  }
  at::Tensor x = at::from_blob(input.data(), sizes(spec.input_shape()), at::kFloat)
                     .to(reference, /*non_blocking=*/false, /*copy=*/true);
  x.set_requires_grad(true);
  ForwardContext context;
  context.training = true;
  context.seed = 11;
  context.step = 5;
  const at::Tensor y = network.Forward(x, weights, context);
  y.backward(at::from_blob(upstream.data(), sizes(spec.output_shape()), at::kFloat).to(reference));

  PlanOptions options;
  options.batch = batch;
  options.training = true;
  options.input_gradient = true;
  options.seed = 11;
  StepPlan plan(network, options);
  plan.SetInput(input.data());
  AlignedArray<float> gradients(spec.flat_size);
  StepArguments step;
  step.params = planned_flat.data();
  step.gradients = gradients.data();
  step.step = 5;
  plan.Forward(step);
  const at::Tensor dense = y.detach().to(at::kDouble).contiguous();
  EXPECT_LE(Difference(plan.output(), dense.const_data_ptr<double>(), outputs), kTolerance);
  std::memcpy(plan.output_gradient(), upstream.data(), upstream.size() * sizeof(float));
  plan.Backward(step);
  // Gradients that are zero in exact arithmetic, such as those of a shift before a batch norm,
  // are the rounding errors of the others: all are measured against the largest.
  double largest = 0.0;
  for (const at::Tensor& weight : weights) {
    if (!weight.grad().defined()) continue;
    const at::Tensor gradient = weight.grad().to(at::kDouble).contiguous();
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      largest = std::max(largest, std::abs(gradient.const_data_ptr<double>()[i]));
    }
  }
  // Of a window that never meets the image autograd has no gradient: it is zero.
  const at::Tensor dx =
      (x.grad().defined() ? x.grad() : at::zeros_like(x)).to(at::kDouble).contiguous();
  EXPECT_LE(Difference(plan.input_gradient(), dx.const_data_ptr<double>(), dx.numel(), largest),
            kTolerance);
  const std::vector<at::Tensor> planned = network.BindWeights(gradients.data());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (spec.weights[i].slot_offset < 0) continue;
    const at::Tensor expected = weights[i].grad().to(at::kDouble).contiguous();
    const at::Tensor actual = planned[i].contiguous();
    EXPECT_LE(Difference(actual.const_data_ptr<float>(), expected.const_data_ptr<double>(),
                         expected.numel(), largest),
              kTolerance)
        << spec.weights[i].name;
  }
  const std::vector<at::Tensor> after = network.BindWeights(planned_flat.data());
  for (size_t i = 0; i < weights.size(); ++i) {
    const at::Tensor expected = weights[i].detach().to(at::kDouble).contiguous();
    const at::Tensor actual = after[i].contiguous();
    EXPECT_LE(Difference(actual.const_data_ptr<float>(), expected.const_data_ptr<double>(),
                         expected.numel(), 1.0),
              kTolerance)
        << spec.weights[i].name << " after the step";
  }
}

class RandomModel : public testing::TestWithParam<int> {};

TEST_P(RandomModel, PlannedAndAutogradAgree) {
  ExpectPlannedAgrees(RandomModelJson(GetParam()), 1 + GetParam() % 7, GetParam());
}

std::string Convolution(const std::string& name, int filters, const std::string& padding,
                        const std::string& activation, const std::string& input = "") {
  return KerasLayer("Conv2D", name,
                    "\"filters\": " + std::to_string(filters) +
                        R"(, "kernel_size": [3, 3], "padding": ")" + padding +
                        R"(", "activation": ")" + activation + "\"" +
                        (input.empty() ? "" : R"(, "batch_input_shape": [null, )" + input + "]"));
}

// Wide enough for the planned form by Winograd's transforms, in several blocks of tiles.
TEST(StepPlan, WideConvolutionsAgreeWithAutograd) {
  ExpectPlannedAgrees(KerasSequential({Convolution("a", 16, "same", "tanh", "9, 12, 17"),
                                       Convolution("b", 33, "valid", "relu"),
                                       Convolution("c", 20, "same", "linear")}),
                      5, 1);
  ExpectPlannedAgrees(KerasSequential({Convolution("a", 64, "valid", "relu", "15, 15, 32"),
                                       Convolution("b", 64, "same", "softmax")}),
                      3, 2);
  ExpectPlannedAgrees(KerasSequential({Convolution("a", 32, "valid", "relu", "3, 3, 16")}), 70, 3);
  // So many weights that they are taken so where an image has several tiles.
  ExpectPlannedAgrees(KerasSequential({Convolution("a", 96, "same", "relu", "6, 4, 80"),
                                       Convolution("b", 100, "valid", "linear")}),
                      9, 4);
}

// Each channel by itself: wider than a vector and its tail, with strides and dilation; between
// others, so that gradients go through, with a group for each channel, and over series.
TEST(StepPlan, DepthwiseConvolutionsAgreeWithAutograd) {
  const auto layer = [](const std::string& kind, const std::string& name, const std::string& more) {
    return KerasLayer(kind, name, R"("bias_initializer": "glorot_uniform", )" + more);
  };
  ExpectPlannedAgrees(
      KerasSequential(
          {layer("Conv2D", "a",
                 R"("filters": 37, "kernel_size": 1, "batch_input_shape": [null, 11, 13, 3])"),
           layer("DepthwiseConv2D", "b",
                 R"("kernel_size": 3, "padding": "same", "activation": "relu")"),
           layer("DepthwiseConv2D", "c", R"("kernel_size": [3, 5], "activation": "swish")"),
           layer("SeparableConv2D", "d",
                 R"("filters": 20, "kernel_size": 3, "padding": "same", "strides": [2, 2],
                    "activation": "tanh")"),
           layer("SeparableConv2D", "e", R"("filters": 5, "kernel_size": 2, "use_bias": false)")}),
      5, 11);
  ExpectPlannedAgrees(
      KerasSequential(
          {layer("DepthwiseConv2D", "a",
                 R"("kernel_size": 3, "padding": "same", "dilation_rate": [2, 3], "use_bias": false,
                    "batch_input_shape": [null, 9, 12, 18])"),
           layer("Conv2D", "b",
                 R"("filters": 18, "groups": 18, "kernel_size": [2, 3], "activation": "gelu",
                    "padding": "same")"),
           layer("DepthwiseConv2D", "c",
                 R"("kernel_size": 5, "padding": "same", "strides": [3, 3])")}),
      4, 12);
  ExpectPlannedAgrees(
      KerasSequential({layer("SeparableConv1D", "a",
                             R"("filters": 24, "kernel_size": 4, "padding": "causal",
                                "activation": "relu", "batch_input_shape": [null, 15, 7])"),
                       layer("DepthwiseConv1D", "b",
                             R"("kernel_size": 3, "padding": "same", "dilation_rate": 2)"),
                       layer("SeparableConv1D", "c", R"("filters": 3, "kernel_size": 1)")}),
      6, 13);
}

// Windows larger than the image, beside it, and with steps longer than they are.
TEST(StepPlan, DepthwiseWindowsOfAnySizeAgreeWithAutograd) {
  for (int seed = 0; seed < 80; ++seed) {
    const Philox random(static_cast<uint64_t>(seed), Purpose::kSearch, 17, 0);
    uint64_t draws = 0;
    const auto below = [&](int n) {
      return static_cast<int>(random.Below(draws++, static_cast<uint64_t>(n)));
    };
    const auto pair = [](int height, int width) {
      return "[" + std::to_string(height) + ", " + std::to_string(width) + "]";
    };
    const int height = 1 + below(8);
    const int width = 1 + below(12);
    const bool same = below(4) != 0;
    const int far = 1 + below(6);
    const int kernel_height = 1 + below(same ? 12 : height);
    const int kernel_width = 1 + below(same ? 25 : width);
    const bool dilated = same && below(2) == 0;
    const std::string window = "\"kernel_size\": " + pair(kernel_height, kernel_width) +
                               R"(, "padding": ")" + (same ? "same" : "valid") + "\", " +
                               (dilated ? "\"dilation_rate\": " + pair(far, 1 + below(9))
                                        : "\"strides\": " + pair(far, far)) +
                               R"(, "bias_initializer": "glorot_uniform", "activation": "tanh")";
    const std::string input = R"(, "batch_input_shape": [null, )" + std::to_string(height) + ", " +
                              std::to_string(width) + ", " + std::to_string(1 + below(20)) + "]";
    const std::string more = below(2) == 0 ? R"(, "filters": 3)" : "";
    const std::string kind = more.empty() ? "DepthwiseConv2D" : "SeparableConv2D";
    ExpectPlannedAgrees(KerasSequential({KerasLayer(kind, "a", window + input + more)}), 2, seed);
  }
}

// Groups and dilation, several of them at once, in models where the gradient goes through.
TEST(StepPlan, GroupedAndDilatedConvolutionsAgreeWithAutograd) {
  const auto layer = [](const std::string& name, int filters, const std::string& more) {
    return KerasLayer("Conv2D", name,
                      "\"filters\": " + std::to_string(filters) +
                          R"(, "kernel_size": [3, 2], "bias_initializer": "glorot_uniform", )" +
                          more);
  };
  const std::string input = R"("batch_input_shape": [null, 11, 9, 8])";
  ExpectPlannedAgrees(
      KerasSequential({layer("a", 8, R"("groups": 2, "activation": "gelu", )" + input),
                       layer("b", 12, R"("groups": 2, "padding": "same", "strides": [2, 1])"),
                       layer("c", 12, R"("groups": 12, "activation": "tanh", "padding": "same")")}),
      4, 4);
  ExpectPlannedAgrees(
      KerasSequential({layer("a", 5, R"("dilation_rate": [2, 3], "activation": "relu", )" + input),
                       layer("b", 8, R"("dilation_rate": [3, 1], "padding": "same")"),
                       layer("c", 8, R"("groups": 2, "dilation_rate": 2, "padding": "same")")}),
      3, 5);
}

// Windows of one pixel, and kernels so large that several images share a product: with padding and
// strides, and in several products of a batch.
TEST(StepPlan, ConvolutionsByColumnsAgreeWithAutograd) {
  const auto layer = [](const std::string& name, int filters, int size, const std::string& more) {
    return KerasLayer("Conv2D", name,
                      "\"filters\": " + std::to_string(filters) +
                          ", \"kernel_size\": " + std::to_string(size) +
                          R"(, "bias_initializer": "glorot_uniform", )" + more);
  };
  ExpectPlannedAgrees(
      KerasSequential({layer("a", 24, 1, R"("batch_input_shape": [null, 9, 10, 5])"),
                       layer("b", 40, 1, R"("activation": "tanh", "strides": [2, 3])"),
                       layer("c", 1, 1, R"("activation": "relu")"),
                       layer("d", 7, 1, R"("use_bias": false)")}),
      3, 6);
  ExpectPlannedAgrees(
      KerasSequential(
          {layer("a", 64, 1, R"("activation": "relu", "batch_input_shape": [null, 12, 11, 6])"),
           layer("b", 128, 4, R"("activation": "gelu", "padding": "same")"),
           layer("c", 80, 3, R"("padding": "same", "strides": [2, 2], "activation": "tanh")"),
           layer("d", 210, 2, R"("padding": "valid")")}),
      19, 7);
}

// Wider than a vector and its tail, with BLAS for the larger ones, and more rows of a normalization
// than a block.
TEST(StepPlan, WideSeriesAgreeWithAutograd) {
  const auto recurrent = [](const std::string& kind, const std::string& name, int units,
                            const std::string& more) {
    return KerasLayer(kind, name,
                      "\"units\": " + std::to_string(units) +
                          R"(, "bias_initializer": "glorot_uniform", "return_sequences": true)" +
                          more);
  };
  const std::string input = R"(, "batch_input_shape": [null, 9, 21])";
  ExpectPlannedAgrees(
      KerasSequential({recurrent("LSTM", "a", 37, input), KerasLayer("LayerNormalization", "b", ""),
                       recurrent("GRU", "c", 40, R"(, "reset_after": true)"),
                       recurrent("SimpleRNN", "d", 19, R"(, "activation": "relu")")}),
      40, 8, at::kFloat);
  ExpectPlannedAgrees(
      KerasSequential({recurrent("LSTM", "a", 160, input), recurrent("LSTM", "b", 70, ""),
                       KerasLayer("LayerNormalization", "c", R"("axis": [1, 2])")}),
      6, 9, at::kFloat);
  ExpectPlannedAgrees(
      KerasSequential({recurrent("GRU", "a", 160, input + R"(, "reset_after": true)"),
                       KerasLayer("LayerNormalization", "b", R"("scale": false)")}),
      6, 10, at::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomModel, testing::Range(0, 60));

}  // namespace
}  // namespace hopper
