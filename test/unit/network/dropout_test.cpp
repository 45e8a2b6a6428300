// Dropout's mask: rate, scale, and that it is a function of (seed, layer, step, element) alone.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "model/network/network.h"

namespace hopper {
namespace {

std::string Dropout(const std::string& name, double rate) {
  return R"({"class_name": "Dropout", "config": {"name": ")" + name + R"(", "rate": )" +
         std::to_string(rate) + "}}";
}

std::string Sequential(const std::string& layers) {
  return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
    {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 50]}}, )" +
         layers + R"(]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
}

at::Tensor Drop(const Network& network, const at::Tensor& x, uint64_t seed, int64_t step,
                bool training = true) {
  ForwardContext context;
  context.training = training;
  context.seed = seed;
  context.step = step;
  return network.Forward(x, {}, context);
}

TEST(Dropout, RateAndScale) {
  for (double rate : {0.1, 0.3, 0.5, 0.9}) {
    const Network network(ParseModel(Sequential(Dropout("d", rate)), nullptr));
    const int64_t n = 4000;
    const at::Tensor x = at::ones({n, 50}) * 3.0;
    const at::Tensor y = Drop(network, x, 7, 0);
    const double kept = (y != 0.0).sum().item<double>() / static_cast<double>(n * 50);
    const double deviation = std::sqrt(rate * (1.0 - rate) / static_cast<double>(n * 50));
    EXPECT_NEAR(kept, 1.0 - rate, 5.0 * deviation);
    const float scaled = 3.0F * static_cast<float>(1.0 / (1.0 - rate));
    EXPECT_TRUE(((y == 0.0) | (y == scaled)).all().item<bool>());
    // Columns are dropped independently of rows: each column by itself has the rate too.
    const at::Tensor columns = (y != 0.0).to(at::kDouble).mean(0);
    EXPECT_LE((columns - (1.0 - rate)).abs().max().item<double>(),
              5.0 * std::sqrt(rate * (1.0 - rate) / static_cast<double>(n)));
  }
}

TEST(Dropout, MaskIsAFunctionOfSeedLayerStepAndElement) {
  const Network network(ParseModel(Sequential(Dropout("a", 0.5)), nullptr));
  const at::Tensor x = at::ones({64, 50});
  const at::Tensor y = Drop(network, x, 7, 3);
  EXPECT_TRUE(at::equal(y, Drop(network, x, 7, 3)));
  EXPECT_TRUE(at::equal(y.slice(0, 0, 13), Drop(network, x.slice(0, 0, 13), 7, 3)));
  // Half of the elements of independent masks agree.
  const auto agreement = [&](const at::Tensor& other) {
    return at::eq(y, other).to(at::kDouble).mean().item<double>();
  };
  EXPECT_NEAR(agreement(Drop(network, x, 7, 4)), 0.5, 0.05);
  EXPECT_NEAR(agreement(Drop(network, x, 8, 3)), 0.5, 0.05);
  // Two layers: an element survives both with probability 1/4.
  const Network two(ParseModel(Sequential(Dropout("a", 0.5) + ", " + Dropout("b", 0.5)), nullptr));
  EXPECT_NEAR((Drop(two, x, 7, 3) != 0.0).to(at::kDouble).mean().item<double>(), 0.25, 0.05);
}

TEST(Dropout, SharedLayerDrawsAMaskForEachCall) {
  const char* json = R"({"class_name": "Functional", "config": {"name": "f", "layers": [
    {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 50]},
     "name": "i", "inbound_nodes": []},
    {"class_name": "Dropout", "config": {"name": "d", "rate": 0.5}, "name": "d",
     "inbound_nodes": [[["i", 0, 0, {}]], [["d", 0, 0, {}]]]}],
    "input_layers": [["i", 0, 0]], "output_layers": [["d", 1, 0]]},
    "keras_version": "2.11.0", "backend": "tensorflow"})";
  const Network network(ParseModel(json, nullptr));
  const at::Tensor y = Drop(network, at::ones({64, 50}), 7, 3);
  EXPECT_NEAR((y != 0.0).to(at::kDouble).mean().item<double>(), 0.25, 0.05);
}

TEST(Dropout, InferenceAndExtremes) {
  const at::Tensor x = at::ones({8, 50}).cumsum(1);
  const Network half(ParseModel(Sequential(Dropout("d", 0.5)), nullptr));
  EXPECT_TRUE(at::equal(Drop(half, x, 7, 3, /*training=*/false), x));
  const Network none(ParseModel(Sequential(Dropout("d", 0.0)), nullptr));
  EXPECT_TRUE(at::equal(Drop(none, x, 7, 3), x));
  const Network all(ParseModel(Sequential(Dropout("d", 1.0)), nullptr));
  EXPECT_TRUE(at::equal(Drop(all, x, 7, 3), x * 0.0));
}

TEST(Dropout, GradientIsTheMask) {
  const Network network(ParseModel(Sequential(Dropout("d", 0.4)), nullptr));
  at::Tensor x = at::ones({8, 50});
  x.requires_grad_(true);
  const at::Tensor y = Drop(network, x, 7, 3);
  y.sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), y.detach()));
}

// Keras 3 writes "training": false wherever nobody said anything.
TEST(Dropout, DropsInAFunctionalOfKeras3) {
  const auto tensor = [](const std::string& layer) {
    return R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")" + layer +
           R"(", 0, 0], "shape": [null, 50], "dtype": "float32"}})";
  };
  const std::string json =
      R"({"module": "keras.src.models.functional", "class_name": "Functional", "config": {"name": "m",
      "layers": [{"module": "keras.layers", "class_name": "InputLayer", "name": "i",
                  "config": {"name": "i", "batch_shape": [null, 50]}, "inbound_nodes": []},
                 {"module": "keras.layers", "class_name": "Dropout", "name": "d",
                  "config": {"name": "d", "rate": 0.5},
                  "inbound_nodes": [{"args": [)" +
      tensor("i") + R"(], "kwargs": {"training": false}}]}],
      "input_layers": [["i", 0, 0]], "output_layers": [["d", 0, 0]]}})";
  const Network network(ParseModel(json, nullptr));
  const at::Tensor x = at::ones({64, 50});
  EXPECT_FALSE(at::equal(Drop(network, x, 7, 3), x));
  EXPECT_TRUE(at::equal(Drop(network, x, 7, 3, /*training=*/false), x));
}

// All steps of a series drop the same inputs and the same parts of the state.
TEST(Dropout, OfRecurrentLayers) {
  const auto layer = [](const std::string& config) {
    return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "SimpleRNN", "config": {"name": "r", "batch_input_shape": [null, 3, 50],
       "units": 50, "activation": "linear", "kernel_initializer": "identity",
       "recurrent_initializer": "identity", "return_sequences": true, )" +
           config + R"(}}]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
  };
  const auto run = [](const std::string& json, int64_t step, bool training) {
    const Network network(ParseModel(json, nullptr));
    std::vector<float> flat(static_cast<size_t>(network.spec().flat_size));
    InitializeWeights(network.spec(), 1, flat.data());
    ForwardContext context;
    context.training = training;
    context.seed = 7;
    context.step = step;
    return network.Forward(at::ones({64, 3, 50}), network.BindWeights(flat.data()), context);
  };
  const std::string inputs = layer(R"("dropout": 0.5)");
  const at::Tensor y = run(inputs, 0, true);
  EXPECT_TRUE(((y.select(1, 0) == 0.0) | (y.select(1, 0) == 2.0)).all().item<bool>());
  EXPECT_NEAR(y.select(1, 0).mean().item<double>(), 1.0, 0.1);
  EXPECT_TRUE(at::equal(y.select(1, 2), y.select(1, 0) * 3.0));
  EXPECT_TRUE(at::equal(run(inputs, 0, true), y));
  EXPECT_FALSE(at::equal(run(inputs, 1, true), y));
  EXPECT_TRUE((run(inputs, 0, false).select(1, 0) == 1.0).all().item<bool>());
  // h(1) = 1, h(2) = 1 + m h(1), h(3) = 1 + m h(2), where m is 0 or 2.
  const at::Tensor z = run(layer(R"("recurrent_dropout": 0.5)"), 0, true).select(1, 2);
  EXPECT_TRUE(((z == 1.0) | (z == 7.0)).all().item<bool>());
}

}  // namespace
}  // namespace hopper
