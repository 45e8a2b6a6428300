// Operations on tensors as tf.keras writes them: which layers they become, and which are refused.
// What they compute is compared with Keras 3 and tf.keras in test/unit/network (op_*, tf_*).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baseline_table.h"
#include "model/layers/rescaling/rescaling.h"
#include "model/spec.h"

namespace hopper {
namespace {

// A model of x with four features, y = Dense(4)(x), and an operation with these calls.
std::string Model(const std::string& function, const std::string& calls) {
  const bool slice = function == "__operators__.getitem";
  const std::string class_name = slice ? "SlicingOpLambda" : "TFOpLambda";
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
        Operation{"nn.bias_add",
                  R"(["y", 0, 0, {"bias": [1, 2, 3, 4], "data_format": "NHWC", "name": null}])",
                  "Rescaling",
                  {1}},
        Operation{"math.negative", R"(["y", 0, 0, {"name": null}])", "Rescaling", {1}},
        Operation{"math.sigmoid", R"(["y", 0, 0, {}])", "Activation", {1}},
        Operation{"nn.gelu", R"(["y", 0, 0, {"approximate": true}])", "Activation", {1}},
        Operation{"nn.relu", R"(["y", 0, 0, {"name": null}])", "Activation", {1}},
        Operation{"nn.leaky_relu", R"(["y", 0, 0, {"alpha": 0.1}])", "LeakyReLU", {1}},
        Operation{"reshape", R"(["y", 0, 0, {"shape": [-1, 2, 2]}])", "Reshape", {1}},
        Operation{
            "math.truediv", R"(["x", 0, 0, {"y": ["y", 0, 0], "name": null}])", "Divide", {0, 1}},
        Operation{"math.truediv",
                  R"(["_CONSTANT_VALUE", -1, 2.0, {"y": ["y", 0, 0]}])",
                  "Reciprocal",
                  {1}},
        Operation{"math.reduce_mean", R"(["y", 0, 0, {"axis": 1, "keepdims": true}])", "Mean", {1}},
        Operation{
            "stack", R"([["x", 0, 0, {"axis": 1}], ["y", 0, 0, {"axis": 1}]])", "Stack", {0, 1}},
        Operation{"math.maximum", R"(["y", 0, 0, {"y": 0.5}])", "Clip", {1}},
        Operation{"math.pow", R"(["y", 0, 0, {"y": 2.0}])", "Power", {1}},
        Operation{"math.pow", R"(["y", 0, 0, {"y": ["x", 0, 0]}])", "Power", {1, 0}},
        Operation{"math.pow", R"(["y", 0, 0, {"y": [1, 2, 3, 4]}])", "Power", {1, 2}},
        Operation{"clip_by_value",
                  R"(["y", 0, 0, {"clip_value_min": 0, "clip_value_max": 1}])",
                  "Clip",
                  {1}},
        Operation{"compat.v1.transpose", R"(["y", 0, 0, {"perm": [0, 1]}])", "Permute", {1}},
        Operation{"cast", R"(["y", 0, 0, {"dtype": "float32"}])", "Identity", {1}},
        Operation{"cast", R"(["y", 0, 0, {"dtype": "int64"}])", "Cast", {1}},
        Operation{"cast", R"(["y", 0, 0, {"dtype": "bool"}])", "NotEqual", {1}},
        Operation{"math.greater", R"(["y", 0, 0, {"y": ["x", 0, 0]}])", "Greater", {1, 0}},
        Operation{"math.logical_not", R"(["y", 0, 0, {"name": null}])", "Equal", {1}},
        Operation{
            "where", R"(["x", 0, 0, {"x": ["y", 0, 0], "y": ["x", 0, 0]}])", "Where", {0, 1, 0}},
        // The array is tensor 2.
        Operation{"where", R"(["x", 0, 0, {"x": ["y", 0, 0], "y": 0.0}])", "Where", {0, 1, 2}},
        Operation{
            "where", R"(["x", 0, 0, {"x": [[1, 2, 3, 4]], "y": ["y", 0, 0]}])", "Where", {0, 2, 1}},
        Operation{"compat.v1.floor_div",
                  R"(["_CONSTANT_VALUE", -1, 2.0, {"y": ["y", 0, 0]}])",
                  "FloorDivide",
                  {2, 1}},
        Operation{"math.floormod", R"(["y", 0, 0, {"y": 2}])", "Mod", {1, 2}},
        Operation{"math.maximum", R"(["y", 0, 0, {"y": [1, 2, 3, 4]}])", "Maximum", {1, 2}},
        Operation{"one_hot", R"(["y", 0, 0, {"depth": 3, "axis": 1}])", "OneHot", {1}},
        Operation{"__operators__.getitem",
                  R"(["y", 0, 0, {"slice_spec": [{"start": null, "stop": null, "step": null},
                    {"start": 1, "stop": null, "step": 2}]}])",
                  "GetItem",
                  {1}}));

// An argument that is true or false counts, too.
TEST(Operations, ExactAndApproximateGelu) {
  const auto hash = [](const char* calls) {
    return ParseModel(Model("nn.gelu", calls), nullptr)->hash;
  };
  const Digest exact = hash(R"(["y", 0, 0, {}])");
  EXPECT_EQ(hash(R"(["y", 0, 0, {"approximate": false}])"), exact);
  EXPECT_FALSE(hash(R"(["y", 0, 0, {"approximate": true}])") == exact);
}

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
    const char* reason;  // what follows 'layer "z" of class '
  };
  for (const Case& one :
       {Case{"math.truediv", R"(["y", 0, 0, {"y": 0}])",
             "TFOpLambda (math.truediv) is not supported"},
        Case{"math.pow", R"(["_CONSTANT_VALUE", -1, -2.0, {"y": ["y", 0, 0]}])",
             "Power: a power of a number that is not above 0 is not supported"},
        Case{"math.floordiv", R"(["y", 0, 0, {"y": 0}])",
             "TFOpLambda (math.floordiv) is not supported"},
        Case{"math.floormod", R"(["y", 0, 0, {"y": [1, 0, 1, 1]}])",
             "TFOpLambda (math.floormod) is not supported"},
        Case{"__operators__.eq", R"(["y", 0, 0, {}])",
             "TFOpLambda (__operators__.eq) is not supported"},
        Case{"nn.bias_add", R"(["y", 0, 0, {"bias": [1, 2, 3, 4], "data_format": "NCHW"}])",
             "TFOpLambda (nn.bias_add) is not supported"},
        Case{"where", R"(["y", 0, 0, {}])", "TFOpLambda (where) is not supported"},
        Case{"where", R"(["y", 0, 0, {"x": ["x", 0, 0], "y": "text"}])",
             "TFOpLambda (where) is not supported"},
        Case{"einsum", R"(["_CONSTANT_VALUE", -1, "bi,bi->b", {}])",
             "TFOpLambda (einsum) is not supported"},
        Case{"split", R"(["y", 0, 0, {"num_or_size_splits": 2}])",
             "Split: axis 0 is the batch, which it would take apart"},
        Case{"split", R"(["y", 0, 0, {"num_or_size_splits": 3, "axis": 1}])",
             "Split: axis 1 of an example of shape 4 does not have 3 equal parts"},
        Case{"split", R"(["y", 0, 0, {"num_or_size_splits": [3, 2], "axis": 1}])",
             "Split: parts of 5 together do not fit axis 1 of an example of shape 4"},
        Case{"split", R"(["y", 0, 0, {"num_or_size_splits": [-1, 4], "axis": 1}])",
             "Split: part 0 of an example of shape 4 is empty"},
        Case{"split", R"(["y", 0, 0, {"num_or_size_splits": [-1, -1], "axis": 1}])",
             "Split: only one of the sizes may be open"},
        Case{"split", R"(["y", 0, 0, {"num_or_size_splits": 0, "axis": 1}])",
             "TFOpLambda (split) is not supported"},
        Case{"math.reduce_prod", R"(["y", 0, 0, {}])",
             "Prod: without an axis it would mix the examples of a batch"},
        Case{"moveaxis", R"(["y", 0, 0, {"source": 1, "destination": 0}])",
             "Moveaxis: axis 0 is not one of an example of shape 4, or is there twice"},
        Case{"moveaxis", R"(["y", 0, 0, {"source": [1, 1], "destination": [1, -1]}])",
             "Moveaxis: an axis is there twice"},
        Case{"moveaxis", R"(["y", 0, 0, {"source": [1], "destination": [1, 2]}])",
             "Moveaxis: arguments \"source\" and \"destination\" must hold as many axes"},
        Case{"take", R"(["y", 0, 0, {"y": [0, 4], "axis": 1}])",
             "Take: there is no place 4 along axis 1 of an example of shape 4"},
        Case{"take", R"(["y", 0, 0, {"y": [-5], "axis": -1}])",
             "Take: there is no place -5 along axis -1 of an example of shape 4"},
        Case{"take", R"(["y", 0, 0, {"y": 4, "axis": 1}])",
             "GetItem: [:,4] does not fit examples of shape 4: there is no place 4"},
        Case{"take", R"(["y", 0, 0, {"y": [0], "axis": 0}])",
             "Take: it would take examples of a batch"},
        Case{"take", R"(["y", 0, 0, {"y": [[0]], "axis": 1}])",
             "TFOpLambda (take) is not supported"},
        Case{"take", R"(["y", 0, 0, {"y": [0]}])", "TFOpLambda (take) is not supported"},
        Case{"take", R"(["y", 0, 0, {"y": [1e300], "axis": 1}])",
             "TFOpLambda (take) is not supported"},
        Case{"one_hot", R"(["y", 0, 0, {"depth": 0}])", "OneHot: there must be at least one class"},
        Case{"one_hot", R"(["y", 0, 0, {"depth": 3, "axis": 0}])",
             "OneHot: axis 0 would stand before the batch"},
        Case{"one_hot", R"(["y", 0, 0, {"depth": 3, "on_value": 2.0}])",
             "OneHot: another on_value is not supported"},
        Case{"math.logical_and", R"(["y", 0, 0, {"y": ["y", 0, 0], "z": 1}])",
             "LogicalAnd: argument \"z\" = 1 is not supported"},
        Case{"math.add", R"(["y", 0, 0, {"y": [1.0, 2.0, 3.0]}])",
             "Rescaling: a list of 3 values does not fit an input of shape 4"},
        Case{"math.add", R"(["y", 0, 0, {"y": [[1.0, 2.0], [3.0]]}])",
             "TFOpLambda (math.add) is not supported"},
        Case{"math.maximum", R"(["y", 0, 0, {"y": [1.0, 2.0, 3.0]}])",
             "Maximum: inputs of shapes 4 and 3 do not fit together"},
        Case{"math.divide", R"(["y", 0, 0, {"y": [1.0, 2.0, 0.0, 4.0]}])",
             "TFOpLambda (math.divide) is not supported"},
        Case{"pad", R"(["y", 0, 0, {"paddings": [[0, 0], [1, 1]]}])",
             "TFOpLambda (pad) is not supported"},
        Case{"pad", R"(["y", 0, 0, {"paddings": [[0, 0], [1, 1], [1, 0]]}])",
             "TFOpLambda (pad) is not supported"},
        Case{"pad", R"(["y", 0, 0, {"paddings": [[0, 0], [1, 1], [0, 0]], "mode": "REFLECT"}])",
             "TFOpLambda (pad) is not supported"},
        Case{"image.resize", R"(["y", 0, 0, {"size": [4]}])",
             "TFOpLambda (image.resize) is not supported"},
        Case{"cast", R"(["y", 0, 0, {"dtype": "int8"}])", "TFOpLambda (cast) is not supported"},
        Case{"linalg.einsum", R"(["y", 0, 0, {"equation": "ab->a"}])",
             "TFOpLambda (linalg.einsum) is not supported"},
        Case{"math.reduce_mean", R"(["y", 0, 0, {}])",
             "Mean: without an axis it would mix the examples of a batch"},
        Case{"math.reduce_mean", R"(["y", 0, 0, {"axis": [1, 0]}])",
             "Mean: axis 0 is the batch, whose examples it would mix"},
        Case{"math.reduce_sum", R"(["y", 0, 0, {"axis": -2}])",
             "Sum: axis -2 is not one of an example of shape 4, or is there twice"},
        Case{"math.reduce_sum", R"(["y", 0, 0, {"axis": [1, -1]}])",
             "Sum: axis -1 is not one of an example of shape 4, or is there twice"},
        Case{"linalg.matmul", R"(["x", 0, 0, {"b": ["y", 0, 0], "transpose_b": true}])",
             "Matmul: argument \"transpose_b\" = true is not supported"},
        Case{"linalg.matmul", R"(["x", 0, 0, {"b": ["y", 0, 0]}])",
             "Matmul: inputs of shapes 4 and 4 do not fit together"},
        Case{"stack", R"([["x", 0, 0, {"axis": 0}], ["y", 0, 0, {"axis": 0}]])",
             "Stack: axis 0 would stand before the batch"},
        Case{"stack", R"([["x", 0, 0, {"axis": 3}], ["y", 0, 0, {"axis": 3}]])",
             "Stack: there cannot be a new axis 3 of inputs of shape 4"},
        Case{"expand_dims", R"(["y", 0, 0, {"axis": 0}])",
             "ExpandDims: there cannot be a new axis 0 in an input of shape 4"},
        Case{"squeeze", R"(["y", 0, 0, {"axis": 1}])",
             "Squeeze: axis 1 is not one of size 1 in an example of shape 4"},
        Case{"transpose", R"(["y", 0, 0, {"perm": [1, 0]}])",
             "TFOpLambda (transpose) is not supported"},
        Case{"transpose", R"(["y", 0, 0, {}])", "TFOpLambda (transpose) is not supported"},
        Case{"clip_by_value", R"(["y", 0, 0, {"clip_value_min": 2, "clip_value_max": 1}])",
             "Clip: the least value must not be above the most"},
        Case{"reshape", R"(["y", 0, 0, {"shape": [2, 2]}])",
             "TFOpLambda (reshape) is not supported"},
        Case{"__operators__.getitem", R"(["y", 0, 0, {"slice_spec": [0]}])",
             "GetItem: [0] is not supported, as it takes one example of a batch"},
        Case{"__operators__.getitem",
             R"(["y", 0, 0, {"slice_spec": {"start": null, "stop": 2, "step": null}}])",
             "GetItem: [:2] is not supported, as it takes some examples of a batch"},
        Case{"__operators__.getitem", R"(["y", 0, 0, {"slice_spec": [null]}])",
             "GetItem: [None] is not supported, as it has a new axis before the batch"},
        Case{"__operators__.getitem",
             R"(["y", 0, 0, {"slice_spec": [{"start": null, "stop": null, "step": null}, -5]}])",
             "GetItem: [:,-5] does not fit examples of shape 4: there is no place -5"},
        Case{"__operators__.getitem",
             R"(["y", 0, 0, {"slice_spec": [{"class_name": "__ellipsis__"}, 1, 2]}])",
             "GetItem: [...,1,2] is not supported, as it takes one example of a batch"},
        Case{"__operators__.getitem",
             R"(["y", 0, 0, {"slice_spec": [{"start": null, "stop": null, "step": null}, 1, 2]}])",
             "GetItem: [:,1,2] does not fit examples of shape 4: they have fewer axes"},
        Case{"__operators__.getitem",
             R"(["y", 0, 0, {"slice_spec": [{"class_name": "__ellipsis__"},
               {"start": 2, "stop": 2, "step": null}]}])",
             "GetItem: [...,2:2] does not fit examples of shape 4: it takes nothing of an axis"},
        Case{"__operators__.getitem",
             R"(["y", 0, 0, {"slice_spec": [{"class_name": "__ellipsis__"},
               {"start": null, "stop": null, "step": 0}]}])",
             "GetItem: [...,::0] is not a part of a tensor"},
        Case{"__operators__.getitem", R"(["y", 0, 0, {"slice_spec": [["x", 0, 0]]}])",
             "SlicingOpLambda (__operators__.getitem) is not supported"},
        Case{"__operators__.getitem", R"(["y", 0, 0, {"slice_spec": [{"start": 1.5}]}])",
             "SlicingOpLambda (__operators__.getitem) is not supported"},
        Case{"math.add", R"([])", "TFOpLambda (math.add) is not supported"},
        Case{"math.add", R"(7)", "TFOpLambda (math.add) is not supported"},
        Case{"math.add", R"(["y"])", "TFOpLambda (math.add) is not supported"},
        Case{"math.add", R"(["y", 0, 0, {}], ["x", 0, 0, {}])",
             "TFOpLambda (math.add) is not supported"}}) {
    SCOPED_TRACE(std::string(one.function) + one.calls);
    std::vector<Problem> problems;
    EXPECT_EQ(ParseModel(Model(one.function, one.calls), nullptr, &problems), nullptr);
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems[0].message, std::string("layer \"z\" of class ") + one.reason);
  }
}

// An array that would hold something else for each example.
TEST(Operations, ArraysWithABatchAreRefused) {
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(Model("math.add", R"(["y", 0, 0, {"y": [[1.0, 2.0], [3.0, 4.0]]}])"),
                       nullptr, &problems),
            nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message,
            "operation \"z\" of an array of shape 2x2 and a tensor of shape 4 is not supported");
  EXPECT_NE(problems[0].detail.find("config.layers[2]"), std::string::npos);
}

// Arrays of other values are other models.
TEST(Operations, ABiasIsAdded) {
  const auto hash = [](const char* function, const char* arguments) {
    const std::string calls = R"(["y", 0, 0, )" + std::string(arguments) + "]";
    return ParseModel(Model(function, calls), nullptr)->hash;
  };
  EXPECT_EQ(hash("nn.bias_add", R"({"bias": [1, 2, 3, 4], "data_format": "NHWC"})"),
            hash("math.add", R"({"y": [1, 2, 3, 4]})"));
}

TEST(Operations, ArraysArePartOfTheArchitecture) {
  const auto hash = [](const char* array) {
    const std::string calls = R"(["y", 0, 0, {"y": )" + std::string(array) + "}]";
    return ParseModel(Model("math.maximum", calls), nullptr)->hash;
  };
  EXPECT_EQ(hash("[1, 2, 3, 4]"), hash("[1.0, 2.0, 3.0, 4.0]"));
  EXPECT_FALSE(hash("[1, 2, 3, 4]") == hash("[1, 2, 3, 5]"));
}

// z: an operation of Keras 3 with several outputs, of x with the shape 3 x 4.
std::string Keras3Model(const std::string& entry, const std::string& outputs) {
  return R"({"class_name": "Functional", "module": "keras", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "module": "keras.layers", "inbound_nodes": [],
     "config": {"name": "x", "batch_shape": [null, 3, 4]}}, )" +
         entry + R"(], "input_layers": [["x", 0, 0]], "output_layers": )" + outputs + "}}";
}

std::string OfX(const char* class_name, const std::string& config, int times = 1) {
  const std::string x =
      R"({"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}})";
  return R"({"module": "keras.src.ops.numpy", "class_name": ")" + std::string(class_name) +
         R"(", "config": {"name": "z", )" + config +
         R"(}, "name": "z", "inbound_nodes": [{"args": [)" + x + (times > 1 ? ", " + x : "") +
         R"(], "kwargs": {}}]})";
}

// Each is a layer of its own, and those that nobody reads are not computed.
TEST(Operations, PartsOfASplit) {
  const std::string split = OfX("Split", R"("indices_or_sections": [1, 3], "axis": -1)");
  const auto middle = ParseModel(Keras3Model(split, R"(["z", 0, 1])"), nullptr);
  EXPECT_EQ(middle->output_shape(), (Shape{3, 2}));
  const auto last = ParseModel(Keras3Model(split, R"(["z", 0, 2])"), nullptr);
  EXPECT_EQ(last->nodes.size(), 1U);
  EXPECT_EQ(last->output_shape(), (Shape{3, 1}));
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(Keras3Model(split, R"(["z", 0, 3])"), nullptr, &problems), nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "layer \"z\" has no output 3");
  problems.clear();
  const std::string many = OfX("Split", R"("indices_or_sections": 1000000000, "axis": -1)");
  EXPECT_EQ(ParseModel(Keras3Model(many, R"(["z", 0, 0])"), nullptr, &problems), nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code, ErrorCode::kLimitExceeded);
}

TEST(Operations, EquationsThatMixExamplesAreRefused) {
  struct Case {
    const char* equation;
    const char* reason;
  };
  for (const Case& one :
       {Case{"bij,bkj->ik", "\"bij,bkj->ik\" would mix the examples of a batch"},
        Case{"bij,ckj->bik", "\"bij,ckj->bik\" would mix the examples of a batch"},
        Case{"ibj,bkj->bik", "\"ibj,bkj->bik\" would mix the examples of a batch"},
        Case{"bij,bkj->ibk", "\"bij,bkj->ibk\" would mix the examples of a batch"},
        Case{"bij,bkj",
             "\"bij,bkj\" is not supported: it needs \"->\", and letters that occur once in a "
             "term"},
        Case{"bii,bkj->bk",
             "\"bii,bkj->bk\" is not supported: it needs \"->\", and letters that occur once in a "
             "term"},
        Case{"bij,bkj->bim", "\"bij,bkj->bim\" has a letter behind \"->\" that no operand has"},
        Case{"bij,bjk->bik", "\"bij,bjk->bik\" does not fit operands of shapes 3x4 and 3x4"},
        Case{"bijk,bj->bik", "\"bijk,bj->bik\" does not fit operand 1 of shape 3x4"},
        Case{"bij->bi", "\"bij->bi\" is of 1 operands but there are 2"}}) {
    SCOPED_TRACE(one.equation);
    const std::string entry =
        OfX("Einsum", R"("subscripts": ")" + std::string(one.equation) + "\"", 2);
    std::vector<Problem> problems;
    EXPECT_EQ(ParseModel(Keras3Model(entry, R"(["z", 0, 0])"), nullptr, &problems), nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].message, std::string("layer \"z\" of class Einsum: ") + one.reason);
    EXPECT_NE(problems[0].detail.find("config.layers[1]"), std::string::npos);
  }
}

// What stands for operations alone is no layer that a file can name.
TEST(Operations, AreNoLayers) {
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(R"({"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Mean", "config": {"name": "a", "axis": 1, "batch_input_shape": [null, 3, 4]}}]}})",
                       nullptr, &problems),
            nullptr);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "layer class \"Mean\" is not known");
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

// Keras' example of a transformer for series pools so.
TEST(Operations, PoolingOverFeaturesIsAReduction) {
  const auto model = [](const char* pooling, const char* more) {
    return std::string(R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [null, 40, 3]}},
      {"class_name": ")") +
           pooling + R"(", "config": {"name": "z", "data_format": "channels_first")" + more +
           R"(}}]}, "keras_version": "3.15.1", "backend": "jax"})";
  };
  const auto mean = ParseModel(model("GlobalAveragePooling1D", ""), nullptr);
  EXPECT_EQ(mean->layers.back()->class_name(), std::string("Mean"));
  EXPECT_EQ(mean->output_shape(), (Shape{40}));
  const auto max = ParseModel(model("GlobalMaxPooling1D", R"(, "keepdims": true)"), nullptr);
  EXPECT_EQ(max->layers.back()->class_name(), std::string("Max"));
  EXPECT_EQ(max->output_shape(), (Shape{40, 1}));
}

// As .h5 files of Keras 3 have an architecture: no entry but values of arguments says its module.
void DropModules(nlohmann::json* model) {
  for (nlohmann::json& layer : (*model)["config"]["layers"]) {
    layer.erase("module");
    layer.erase("registered_name");
    layer.erase("build_config");
    if (layer["config"].contains("layers")) DropModules(&layer);
  }
}

TEST(OperationsOfH5Files, AreTheSame) {
  int n = 0;
  for (const char* file : {"keras_layers_operations.safetensors", "keras_layers_series.safetensors",
                           "keras_layers_inputs.safetensors", "keras_layers.safetensors"}) {
    const BaselineTable table(file);
    for (const nlohmann::json& one : table.cases()) {
      SCOPED_TRACE(one["name"].get<std::string>());
      const auto text = one["architecture"].get<std::string>();
      nlohmann::json architecture = nlohmann::json::parse(text);
      if (!architecture.contains("module")) continue;  // of Keras 2
      DropModules(&architecture);
      std::vector<Problem> problems;
      const auto spec = ParseModel(architecture.dump(), nullptr, &problems);
      for (const Problem& problem : problems) ADD_FAILURE() << problem.message << problem.detail;
      if (spec == nullptr) continue;
      EXPECT_EQ(spec->hash, ParseModel(text, nullptr)->hash);
      ++n;
    }
  }
  EXPECT_GT(n, 300);
}

}  // namespace
}  // namespace hopper
