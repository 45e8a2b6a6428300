// Operations on tensors as tf.keras writes them; Keras 3's are compared with Keras in
// test/unit/network (op_*).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/layers/rescaling/rescaling.h"
#include "model/spec.h"

namespace hopper {
namespace {

// A model of x with four features, y = Dense(4)(x), and an operation with these calls.
std::string Model(const std::string& function, const std::string& calls) {
  const std::string class_name = function.empty() ? "SlicingOpLambda" : "TFOpLambda";
  return R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
     "config": {"name": "x", "batch_input_shape": [null, 4]}},
    {"class_name": "Dense", "name": "y", "inbound_nodes": [[["x", 0, 0, {}]]],
     "config": {"name": "y", "units": 4}},
    {"class_name": ")" +
         class_name +
         R"(", "name": "z", "config": {"name": "z", "trainable": true,
       "dtype": "float32", "function": ")" +
         function + R"("}, "inbound_nodes": [)" + calls + R"(]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["z", 0, 0]]},
    "keras_version": "2.15.0", "backend": "tensorflow"})";
}

struct Operation {
  const char* function;
  const char* calls;
  const char* class_name;
  std::vector<int> inputs;  // tensors: x is 0, y is 1
};

void PrintTo(const Operation& operation, std::ostream* out) {
  *out << operation.function << " " << operation.calls;
}

class OperationIsLayer : public testing::TestWithParam<Operation> {};

TEST_P(OperationIsLayer, ByName) {
  const Operation& expected = GetParam();
  const auto spec = ParseModel(Model(expected.function, expected.calls), nullptr);
  const Node& node = spec->nodes.back();
  EXPECT_EQ(spec->layers[node.layer]->class_name(), expected.class_name);
  EXPECT_EQ(spec->layers[node.layer]->name(), "z");
  // x is made first; y where it is an input at all.
  EXPECT_EQ(node.inputs, expected.inputs);
}

INSTANTIATE_TEST_SUITE_P(
    All, OperationIsLayer,
    testing::Values(
        Operation{
            "__operators__.add", R"(["x", 0, 0, {"y": ["y", 0, 0], "name": null}])", "Add", {0, 1}},
        Operation{"math.add", R"([["y", 0, 0, {"y": ["x", 0, 0]}]])", "Add", {1, 0}},
        Operation{"math.multiply",
                  R"(["x", 0, 0, {"y": ["y", 0, 0], "name": null}])",
                  "Multiply",
                  {0, 1}},
        Operation{"math.subtract",
                  R"(["y", 0, 0, {"y": ["x", 0, 0], "name": null}])",
                  "Subtract",
                  {1, 0}},
        Operation{"math.maximum", R"(["x", 0, 0, {"y": ["y", 0, 0]}])", "Maximum", {0, 1}},
        Operation{"concat",
                  R"([["x", 0, 0, {"axis": -1}], ["y", 0, 0, {"axis": -1}]])",
                  "Concatenate",
                  {0, 1}},
        Operation{"math.multiply", R"(["y", 0, 0, {"y": 2.5, "name": null}])", "Rescaling", {1}},
        Operation{"math.negative", R"(["y", 0, 0, {"name": null}])", "Rescaling", {1}},
        Operation{"math.sigmoid", R"(["y", 0, 0, {}])", "Activation", {1}},
        Operation{"nn.gelu", R"(["y", 0, 0, {"approximate": true}])", "Activation", {1}},
        Operation{"nn.relu", R"(["y", 0, 0, {"name": null}])", "Activation", {1}},
        Operation{"nn.leaky_relu", R"(["y", 0, 0, {"alpha": 0.1}])", "LeakyReLU", {1}},
        Operation{"reshape", R"(["y", 0, 0, {"shape": [-1, 2, 2]}])", "Reshape", {1}}));

TEST(Operations, NumbersOnEitherSide) {
  struct Case {
    const char* function;
    const char* calls;
    double scale, offset;
  };
  for (const Case& one :
       {Case{"__operators__.add", R"(["_CONSTANT_VALUE", -1, 3.0, {"y": ["y", 0, 0]}])", 1, 3},
        Case{"math.subtract", R"(["y", 0, 0, {"y": 0.5}])", 1, -0.5},
        Case{"math.subtract", R"(["_CONSTANT_VALUE", -1, 1, {"y": ["y", 0, 0]}])", -1, 1},
        Case{"math.truediv", R"(["y", 0, 0, {"y": 4}])", 0.25, 0}}) {
    SCOPED_TRACE(one.calls);
    const auto spec = ParseModel(Model(one.function, one.calls), nullptr);
    const auto* layer = dynamic_cast<const layers::Rescaling*>(spec->layers.back().get());
    ASSERT_NE(layer, nullptr);
    EXPECT_EQ(layer->scale, std::vector<double>{one.scale});
    EXPECT_EQ(layer->offset, std::vector<double>{one.offset});
    EXPECT_EQ(spec->nodes.back().inputs.size(), 1U);
  }
}

TEST(Operations, OthersAreRefused) {
  struct Case {
    const char* function;
    const char* calls;
  };
  for (const Case& one :
       {Case{"math.truediv", R"(["x", 0, 0, {"y": ["y", 0, 0]}])"},
        Case{"math.truediv", R"(["_CONSTANT_VALUE", -1, 2.0, {"y": ["y", 0, 0]}])"},
        Case{"math.truediv", R"(["y", 0, 0, {"y": 0}])"},
        Case{"math.reduce_mean", R"(["y", 0, 0, {"axis": 1}])"},
        Case{"reshape", R"(["y", 0, 0, {"shape": [2, 2]}])"},
        Case{"", R"(["y", 0, 0, {"slice_spec": [{"start": null}]}])"}, Case{"math.add", R"([])"},
        Case{"math.add", R"(7)"}, Case{"math.add", R"(["y"])"},
        Case{"math.add", R"(["y", 0, 0, {}], ["x", 0, 0, {}])"}}) {
    SCOPED_TRACE(one.calls);
    std::vector<Problem> problems;
    EXPECT_EQ(ParseModel(Model(one.function, one.calls), nullptr, &problems), nullptr);
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems[0].code, ErrorCode::kNotSupported) << problems[0].message;
    EXPECT_NE(problems[0].message.find("layer \"z\" of class"), std::string::npos);
  }
}

// NumPy's rule, which an operation follows, takes the batch for another axis there; a layer's does
// not.
TEST(Operations, TensorsOfFewerAxesAreForLayers) {
  const auto model = [](const char* entry) {
    return std::string(R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"name": "x", "batch_input_shape": [null, 4]}},
      {"class_name": "RepeatVector", "name": "y", "inbound_nodes": [[["x", 0, 0, {}]]],
       "config": {"name": "y", "n": 3}}, )") +
           entry + R"(], "input_layers": [["x", 0, 0]], "output_layers": [["z", 0, 0]]},
      "keras_version": "2.15.0", "backend": "tensorflow"})";
  };
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(model(R"({"class_name": "TFOpLambda", "name": "z",
        "config": {"name": "z", "function": "math.add"},
        "inbound_nodes": [["x", 0, 0, {"y": ["y", 0, 0]}]]})"),
                       nullptr, &problems),
            nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "operation \"z\" of tensors of shapes 4 and 3x4 is not supported");
  const auto spec = ParseModel(model(R"({"class_name": "Add", "name": "z", "config": {"name": "z"},
        "inbound_nodes": [[["x", 0, 0, {}], ["y", 0, 0, {}]]]})"),
                               nullptr);
  EXPECT_EQ(spec->output_shape(), (Shape{3, 4}));
}

}  // namespace
}  // namespace hopper
