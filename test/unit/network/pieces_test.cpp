// A planned step takes a batch in pieces through several layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/philox.h"
#include "base/team.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

// Counts how often a step turns to each node.
class Turns : public StepWatch {
 public:
  void Begin(size_t node, bool /*backward*/) override {
    turns.resize(std::max(turns.size(), node + 1));
    ++turns[node];
  }
  std::vector<int> turns;
};

// Output, gradients and moving statistics of a step.
std::vector<float> StepOf(const std::string& json, int64_t batch, float mean, Turns* turns) {
  const Network network(ParseModel(json, nullptr));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> flat(spec.flat_size);
  AlignedArray<float> gradients(spec.flat_size);
  InitializeWeights(spec, 3, flat.data());
  const Philox random(5, Purpose::kSearch, 8, 0);
  std::vector<float> input(static_cast<size_t>(batch * ElementCount(spec.input_shape())));
  for (size_t i = 0; i < input.size(); ++i) input[i] = random.Uniform(i) * 2.0F - 1.0F + mean;
  PlanOptions options;
  options.batch = batch;
  options.training = true;
  options.watch = turns;
  StepPlan plan(network, options);
  EXPECT_EQ(plan.autograd_nodes(), 0);
  plan.SetInput(input.data());
  StepArguments step;
  step.params = flat.data();
  step.gradients = gradients.data();
  plan.Forward(step);
  const int64_t outputs = batch * ElementCount(spec.output_shape());
  std::vector<float> numbers(plan.output(), plan.output() + outputs);
  for (int64_t i = 0; i < outputs; ++i) {
    plan.output_gradient()[i] = random.Uniform(1000000 + static_cast<uint64_t>(i)) - 0.5F;
  }
  plan.Backward(step);
  numbers.insert(numbers.end(), gradients.data(), gradients.data() + gradients.size());
  numbers.insert(numbers.end(), flat.data(), flat.data() + flat.size());
  return numbers;
}

// A team takes the batch as a whole, and its bits are those of one thread for these layers.
void ExpectTheBitsOfTheWhole(const std::string& model) {
  constexpr int64_t kBatch = 19;
  Turns pieces;
  const std::vector<float> by_pieces = StepOf(model, kBatch, 0.0F, &pieces);
  for (size_t node = 0; node < pieces.turns.size(); ++node) {
    EXPECT_NE(pieces.turns[node], 2) << node;  // 0: another node does its work
  }
  const TeamScope team(2, [] {});
  Turns whole;
  const std::vector<float> as_a_whole = StepOf(model, kBatch, 0.0F, &whole);
  EXPECT_EQ(*std::max_element(whole.turns.begin(), whole.turns.end()), 2);
  ASSERT_EQ(by_pieces.size(), as_a_whole.size());
  EXPECT_EQ(std::memcmp(by_pieces.data(), as_a_whole.data(), by_pieces.size() * sizeof(float)), 0);
}

// Pieces end within the blocks of rows whose statistics are added.
TEST(Pieces, GiveTheBitsOfTheWhole) {
  ExpectTheBitsOfTheWhole(KerasSequential(
      {KerasLayer("Conv2D", "a",
                  R"("filters": 40, "kernel_size": 1, )"
                  R"("batch_input_shape": [null, 15, 13, 3])"),
       KerasLayer("BatchNormalization", "b", ""), KerasLayer("ReLU", "c", R"("max_value": 6)"),
       KerasLayer("DepthwiseConv2D", "d", R"("kernel_size": 3, "padding": "same")"),
       KerasLayer("BatchNormalization", "e", ""),
       KerasLayer("Activation", "f", R"("activation": "swish")"),
       KerasLayer("Conv2D", "g", R"("filters": 5, "kernel_size": 1)")}));
}

// Pieces of the dropout begin at numbers that are no multiples of four.
TEST(Pieces, OfPoolingDropoutAndSumsGiveTheBitsOfTheWhole) {
  std::string layers = R"({"class_name": "InputLayer", "name": "x", "inbound_nodes": [], )"
                       R"("config": {"name": "x", "batch_input_shape": [null, 15, 13, 3]}})";
  const auto add = [&](const std::string& kind, const std::string& name,
                       const std::string& attributes, const std::string& inputs) {
    std::string nodes;
    for (const char input : inputs) {
      nodes += (nodes.empty() ? "[\"" : ", [\"") + std::string(1, input) + "\", 0, 0, {}]";
    }
    const std::string layer = KerasLayer(kind, name, attributes);
    layers += ", " + layer.substr(0, layer.size() - 1) + ", \"name\": \"" + name +
              "\", \"inbound_nodes\": [[" + nodes + "]]}";
  };
  add("Conv2D", "a", R"("filters": 37, "kernel_size": 1, "activation": "relu")", "x");
  add("MaxPooling2D", "b", R"("pool_size": 2)", "a");
  add("Dropout", "c", R"("rate": 0.3)", "b");
  add("Conv2D", "d", R"("filters": 37, "kernel_size": 1)", "c");
  add("Conv2D", "e", R"("filters": 37, "kernel_size": 1)", "d");
  add("Add", "f", "", "ecd");
  add("AveragePooling2D", "g", R"("pool_size": 3, "strides": 2, "padding": "same")", "f");
  add("GlobalAveragePooling2D", "h", "", "g");
  ExpectTheBitsOfTheWhole(
      R"({"class_name": "Functional", "keras_version": "2.10.0", "config": {"name": "m", )"
      R"("input_layers": [["x", 0, 0]], "output_layers": [["h", 0, 0]], "layers": [)" +
      layers + "]}}");
}

// Floats that a plan takes more for each further example.
double FloatsOfAnExample(const Network& network, int parts) {
  const auto floats = [&](int64_t batch) {
    PlanOptions options;
    options.batch = batch;
    options.training = true;
    options.measured_parts = parts;
    return static_cast<double>(StepPlan(network, options).arena_floats());
  };
  return (floats(160) - floats(80)) / 80.0;
}

// Of a batch in pieces stay what the convolutions gave and one gradient on its way. What the
// normalization gave is computed anew, and the other gradients are read where they are written.
TEST(Pieces, TakeNoMemoryForWhatLivesInAPiece) {
  const Network network(
      ParseModel(KerasSequential({KerasLayer("Conv2D", "a",
                                             R"("filters": 40, "kernel_size": 1, )"
                                             R"("batch_input_shape": [null, 15, 13, 3])"),
                                  KerasLayer("BatchNormalization", "b", ""),
                                  KerasLayer("ReLU", "c", R"("max_value": 6)"),
                                  KerasLayer("DepthwiseConv2D", "d", R"("kernel_size": 3)"),
                                  KerasLayer("Conv2D", "e", R"("filters": 1, "kernel_size": 1)")}),
                 nullptr));
  constexpr double kFirst = 15 * 13 * 40, kSecond = 13 * 11 * 40, kRest = 13 * 11 * 2;
  EXPECT_LE(FloatsOfAnExample(network, 1), 2 * kFirst + kSecond + kRest);
  EXPECT_GE(FloatsOfAnExample(network, 2), 3 * kFirst + kSecond);
}

// Numbers far from 0, whose squares would drown their variance in float32.
TEST(Pieces, StatisticsOfNumbersFarFromZero) {
  const std::string model = KerasSequential({KerasLayer(
      "BatchNormalization", "a", R"("momentum": 0.0, "batch_input_shape": [null, 9, 11, 5])")});
  const std::shared_ptr<const ModelSpec> spec = ParseModel(model, nullptr);
  constexpr int64_t kBatch = 29;
  for (const float mean : {0.0F, 30.0F, 3000.0F}) {
    Turns turns;
    const std::vector<float> numbers = StepOf(model, kBatch, mean, &turns);
    const float* weights = numbers.data() + numbers.size() - spec->flat_size;
    const float* means = weights + spec->weights[2].offset;
    const float* variances = weights + spec->weights[3].offset;
    const Philox random(5, Purpose::kSearch, 8, 0);
    for (int64_t j = 0; j < 5; ++j) {
      double sum = 0.0;
      double squares = 0.0;
      constexpr int64_t kRows = kBatch * 99;
      for (int64_t i = 0; i < kRows; ++i) {
        const double x = random.Uniform(static_cast<uint64_t>(i * 5 + j)) * 2.0F - 1.0F + mean;
        sum += x;
        squares += x * x;
      }
      const double average = sum / kRows;
      EXPECT_NEAR(means[j], average, 1e-6 * (1.0 + mean));
      EXPECT_NEAR(variances[j], squares / kRows - average * average, 1e-5) << mean;
    }
  }
}

}  // namespace
}  // namespace hopper
