// An activation layer that alone reads a layer's output is that layer's own in a planned step.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/philox.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

struct Step {
  std::vector<float> numbers;  // output, gradients, moving statistics
  size_t ops = 0;              // run forward
};

class Counter : public StepWatch {
 public:
  void Begin(size_t node, bool backward) override {
    if (!backward) forward.insert(node);
  }
  std::set<size_t> forward;
};

Step StepOf(const std::string& json) {
  constexpr int64_t kBatch = 7;
  const Network network(ParseModel(json, nullptr));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> flat(spec.flat_size);
  AlignedArray<float> gradients(spec.flat_size);
  InitializeWeights(spec, 3, flat.data());
  const Philox random(5, Purpose::kSearch, 7, 0);
  std::vector<float> input(static_cast<size_t>(kBatch * ElementCount(spec.input_shape())));
  for (size_t i = 0; i < input.size(); ++i) input[i] = random.Uniform(i) * 2.0F - 1.0F;
  PlanOptions options;
  options.batch = kBatch;
  options.training = true;
  options.input_gradient = true;
  Counter counter;
  options.watch = &counter;
  StepPlan plan(network, options);
  EXPECT_EQ(plan.autograd_nodes(), 0);
  plan.SetInput(input.data());
  StepArguments step;
  step.params = flat.data();
  step.gradients = gradients.data();
  plan.Forward(step);
  Step result;
  result.ops = counter.forward.size();
  const int64_t outputs = kBatch * ElementCount(spec.output_shape());
  const auto keep = [&](const float* numbers, size_t n) {
    result.numbers.insert(result.numbers.end(), numbers, numbers + n);
  };
  keep(plan.output(), static_cast<size_t>(outputs));
  for (int64_t i = 0; i < outputs; ++i) {
    plan.output_gradient()[i] = random.Uniform(1000000 + static_cast<uint64_t>(i)) - 0.5F;
  }
  plan.Backward(step);
  keep(plan.input_gradient(), input.size());
  keep(gradients.data(), gradients.size());
  keep(flat.data(), flat.size());
  return result;
}

// Between two layers that are not the same in all cases a Reshape to the same shape stands, which
// hides that the activation follows.
TEST(ActivationBehind, HasTheBitsThatItHasAlone) {
  const std::string first = R"("batch_input_shape": [null, 9, 10, 5], )";
  const std::string layers[] = {
      KerasLayer("BatchNormalization", "a", first + R"("axis": -1)"),
      KerasLayer("Dense", "a", first + R"("units": 5, "activation": "linear")"),
      KerasLayer("Conv2D", "a", first + R"("filters": 5, "kernel_size": 3, "padding": "same")"),
      KerasLayer("DepthwiseConv2D", "a", first + R"("kernel_size": 3, "padding": "same")"),
  };
  const std::string activations[] = {
      KerasLayer("ReLU", "b", R"("max_value": 6)"),
      KerasLayer("Activation", "b", R"("activation": "relu")"),
      KerasLayer("Activation", "b", R"("activation": "swish")"),
      KerasLayer("LeakyReLU", "b", R"("alpha": 0.2)"),
  };
  const std::string hide = KerasLayer("Reshape", "r", R"("target_shape": [9, 10, 5])");
  const std::string last = KerasLayer("Conv2D", "c", R"("filters": 4, "kernel_size": 2)");
  for (const std::string& layer : layers) {
    for (const std::string& activation : activations) {
      SCOPED_TRACE(layer + activation);
      const Step alone = StepOf(KerasSequential({layer, hide, activation, last}));
      const Step behind = StepOf(KerasSequential({layer, activation, last}));
      ASSERT_EQ(behind.numbers.size(), alone.numbers.size());
      EXPECT_EQ(std::memcmp(behind.numbers.data(), alone.numbers.data(),
                            alone.numbers.size() * sizeof(float)),
                0);
      EXPECT_EQ(behind.ops, 2U);
      EXPECT_EQ(alone.ops, 3U);
    }
  }
}

// What others read, too, or what the model gives, is there as it was before the activation.
TEST(ActivationBehind, IsItsOwnWhereOthersRead) {
  const auto layer = [](const char* name, const char* config, const char* inputs) {
    return std::string(R"({"class_name": ")") + name + R"(", "config": {)" + config +
           R"(, "trainable": true}, "inbound_nodes": [)" + inputs + "]}";
  };
  const auto model = [&](const char* activation) {
    return R"({"class_name": "Functional", "config": {"name": "m", "layers": [)" +
           layer("InputLayer", R"("name": "x", "batch_input_shape": [null, 6])", "") + ", " +
           layer("BatchNormalization", R"("name": "a")", R"([["x", 0, 0, {}]])") + ", " +
           layer("Activation",
                 (std::string(R"("name": "b", "activation": ")") + activation + "\"").c_str(),
                 R"([["a", 0, 0, {}]])") +
           ", " + layer("Add", R"("name": "c")", R"([["a", 0, 0, {}], ["b", 0, 0, {}]])") +
           R"(], "input_layers": [["x", 0, 0]], "output_layers": [["c", 0, 0]]},
           "keras_version": "2.11.0", "backend": "tensorflow"})";
  };
  // x + x is twice x, exactly; below 0 relu adds nothing to it.
  const Step twice = StepOf(model("linear"));
  const Step relu = StepOf(model("relu"));
  for (int i = 0; i < 7 * 6; ++i) {
    EXPECT_EQ(relu.numbers[i], twice.numbers[i] > 0.0F ? twice.numbers[i] : twice.numbers[i] / 2);
  }
}

}  // namespace
}  // namespace hopper
