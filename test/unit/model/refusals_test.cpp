// What is refused of an architecture as a whole: each with its place in the JSON, the reason, and
// what to write instead.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "model/keras/detours.h"
#include "model/layer.h"
#include "model/spec.h"

namespace hopper {
namespace {

using nlohmann::json;

// "message | detail | hint" of each problem.
std::vector<std::string> Refusals(const std::string& text, const Shape* data = nullptr) {
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(text, data, &problems), nullptr);
  std::vector<std::string> found;
  for (const Problem& problem : problems) {
    found.push_back(problem.message + " | " + problem.detail + " | " + problem.hint);
  }
  return found;
}

std::string Sequential(const std::string& layers, const std::string& input = "") {
  return R"({"class_name": "Sequential", "keras_version": "3.10.0", "config": {"name": "s", "layers": [
    {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, 4])" +
         input + "}}" + (layers.empty() ? "" : ", ") + layers + "]}}";
}

// x, Dense "a" and Dense "b" with these calls.
std::string Functional(const std::string& calls_a, const std::string& calls_b,
                       const std::string& name_b = "b", const std::string& output = "b") {
  const auto layer = [](const std::string& name, const std::string& calls) {
    return R"({"name": ")" + name + R"(", "class_name": "Dense", "config": {"name": ")" + name +
           R"(", "units": 3}, "inbound_nodes": )" + calls + "}";
  };
  return R"({"class_name": "Functional", "keras_version": "2.4.0", "config": {"name": "m", "layers": [
      {"name": "x", "class_name": "InputLayer",
       "config": {"name": "x", "batch_input_shape": [null, 3]}, "inbound_nodes": []}, )" +
         layer("a", calls_a) + ", " + layer(name_b, calls_b) +
         R"(], "input_layers": [["x", 0, 0]], "output_layers": [[")" + output + R"(", 0, 0]]}})";
}

using Strings = std::vector<std::string>;

TEST(Refusals, Lambda) {
  EXPECT_EQ(Refusals(Sequential(R"({"class_name": "Lambda", "config": {"name": "l"}})")),
            Strings{"layer \"l\" of class Lambda is not supported | Lambda holds Python byte code. "
                    "The layer is config.layers[1] of the architecture. | Write what it computes "
                    "with layers: keras.layers.Rescaling(2.0) for x * 2, "
                    "keras.layers.Activation(\"relu\"), keras.layers.Add()([x, y]), "
                    "keras.layers.Reshape."});
}

TEST(Refusals, OtherFilesWithAModel) {
  const std::string what = "model architecture is not a Keras model | ";
  EXPECT_EQ(Refusals(R"({"format": "layers-model", "modelTopology": {"keras_version": "2.8.0",
                "model_config": {"class_name": "Sequential", "config": {}}}, "weightsManifest": []})"),
            Strings{what + "The model is a part of it. | Give load_model() the part alone: "
                           "file::json #> '{modelTopology,model_config}'."});
  EXPECT_EQ(Refusals(R"({"modelTopology": {"class_name": "Sequential", "config": {}}})"),
            Strings{what + "The model is a part of it. | Give load_model() the part alone: "
                           "file::json #> '{modelTopology}'."});
  EXPECT_EQ(Refusals(R"({"model_config": {"class_name": "Sequential"}, "training_config": {}})"),
            Strings{what + "The model is a part of it. | Give load_model() the part alone: "
                           "file::json #> '{model_config}'."});
  // Whatever the key is, and where the model is a string there.
  EXPECT_EQ(Refusals(R"({"training": {}, "architecture": {"class_name": "Sequential"}})"),
            Strings{what + "The model is a part of it. | Give load_model() the part alone: "
                           "file::json #> '{architecture}'."});
  EXPECT_EQ(Refusals(R"({"epochs": 3, "model": "{\"class_name\": \"Sequential\"}"})"),
            Strings{what + "The model is a part of it. | Give load_model() the part alone: "
                           "file::json #>> '{model}'."});
  EXPECT_EQ(Refusals(R"({"format": "graph-model", "modelTopology": {"node": []}})"),
            Strings{what + "It is a graph of TensorFlow.js, which has operations and no layers. | "
                           "Convert the Keras model itself, or take its model.to_json()."});
}

// As it was published with Keras 1.2.1.
TEST(Refusals, Keras1) {
  EXPECT_EQ(Refusals(R"({"class_name": "Sequential", "keras_version": "1.2.1", "config": [
                {"class_name": "Dense", "config": {"W_constraint": null, "b_constraint": null,
                 "name": "dense_1", "output_dim": 1024, "init": "uniform", "bias": true,
                 "activation": "softplus", "batch_input_shape": [null, 8]}},
                {"class_name": "Dropout", "config": {"p": 0.7342146978592597}}]})"),
            Strings{"model architecture was written by Keras 1.2.1 | Its layers have other "
                    "arguments than those of Keras 2: output_dim for units, nb_filter for filters. "
                    "| Read it with Keras 2.0 to 2.2, which translates it, and write it with "
                    "model.to_json() again."});
  // Early ones do not say their version.
  const Strings early =
      Refusals(R"({"class_name": "Sequential", "config": [{"class_name": "Convolution2D", "config":
          {"nb_filter": 32, "nb_row": 3, "nb_col": 3, "init": "he_normal", "W_regularizer": null,
           "W_constraint": {"axis": 0, "m": 4, "name": "MaxNorm"}}}]})");
  ASSERT_EQ(early.size(), 1U);
  EXPECT_EQ(early[0].find("model architecture was written by Keras 1 | "), 0U);
}

TEST(Refusals, ClassesOfUsers) {
  const std::string hint =
      "Build the model of Keras' own layers; what your class computes is Python code, which the "
      "file "
      "does not hold.";
  EXPECT_EQ(Refusals(Sequential(R"({"class_name": "MyPackage>Attn", "config": {"name": "attn"}})")),
            Strings{"layer class \"MyPackage>Attn\" is not known | It is the class of layer "
                    "\"attn\", config.layers[1] of the architecture. | " +
                    hint});
  EXPECT_EQ(Refusals(Sequential(R"({"class_name": "Attn", "module": "mine", "config": {}})")),
            Strings{"layer class \"Attn\" is not known | It is the class of layer "
                    "\"config.layers[1]\". | " +
                    hint});
  // In an argument of a layer.
  EXPECT_EQ(
      Refusals(Sequential(R"({"class_name": "TimeDistributed", "config": {"name": "t",
                "layer": {"class_name": "Conv3D", "config": {"name": "c"}}}})")),
      Strings{"layer \"t/c\" of class Conv3D is not supported | Layers of volumes are not "
              "there. The layer is config.layers[1].config.layer of the architecture. | Write "
              "the layer of images inside keras.layers.TimeDistributed, for example "
              "TimeDistributed(Conv2D(8, 3)): it takes each image of a series by itself."});
}

// A model at each step is read as its layers at each step where these follow each other and where
// its weights stay in their order.
TEST(Refusals, ModelsAtEachStep) {
  const auto repeated = [](const char* version, const std::string& model) {
    return Refusals(std::string(R"({"class_name": "Sequential", "keras_version": ")") + version +
                    R"(", "config": {"name": "s", "layers": [
        {"class_name": "TimeDistributed", "config": {"name": "t", "batch_input_shape":
        [null, 5, 4], "layer": )" +
                    model + "}}]}}");
  };
  const auto of_layers = [](const std::string& normalization, const char* trainable) {
    return R"({"class_name": "Sequential", "config": {"name": "each", "layers": [
        {"class_name": "Dense", "config": {"name": "a", "units": 4, "trainable": )" +
           std::string(trainable) + R"(}}, {"class_name": ")" + normalization +
           R"(", "config": {"name": "n"}}, {"class_name": "Dense",
        "config": {"name": "b", "units": 2}}]}})";
  };
  const Strings refused = {
      "layer \"t\" of class TimeDistributed: argument \"layer\" of class Sequential is not "
      "supported | The layer is "
      "config.layers[0] of the architecture. | Give it one layer: a model by wrapping each layer "
      "of "
      "it on its own."};
  EXPECT_EQ(repeated("2.4.0", of_layers("BatchNormalization", "true")), refused);
  EXPECT_EQ(repeated("2.4.0", of_layers("LayerNormalization", "false")), refused);
  // A model whose layers do not follow each other.
  const std::string fork = R"({"class_name": "Functional", "config": {"name": "each", "layers": [
      {"name": "x", "class_name": "InputLayer", "config": {"name": "x", "batch_shape": [null, 4]},
       "inbound_nodes": []},
      {"name": "a", "class_name": "Dense", "config": {"name": "a", "units": 4},
       "inbound_nodes": [[["x", 0, 0, {}]]]},
      {"name": "b", "class_name": "Add", "config": {"name": "b"},
       "inbound_nodes": [[["x", 0, 0, {}], ["a", 0, 0, {}]]]}],
      "input_layers": [["x", 0, 0]], "output_layers": [["b", 0, 0]]}})";
  EXPECT_EQ(repeated("2.4.0", fork).size(), 1);
}

TEST(Refusals, Operations) {
  const auto operation = [](const char* function, const char* arguments) {
    return Refusals(std::string(R"({"class_name": "Functional", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"name": "x", "batch_input_shape": [null, 4]}},
      {"class_name": "TFOpLambda", "name": "z", "config": {"name": "z", "function": ")") +
                    function + R"("}, "inbound_nodes": [["x", 0, 0, )" + arguments + R"(]]}],
      "input_layers": [["x", 0, 0]], "output_layers": [["z", 0, 0]]},
      "keras_version": "2.15.0"})");
  };
  const std::string place =
      " | It is an operation on tensors, not a layer. The layer is config.layers[1] of the "
      "architecture. | ";
  EXPECT_EQ(
      operation("math.add", "{}"),
      Strings{"layer \"z\" of class TFOpLambda (math.add) is not supported" + place +
              "Write the layer: keras.layers.Add()([x, y]), and so Subtract, Multiply, Maximum "
              "and Minimum."});
  EXPECT_EQ(operation("__operators__.eq", "{}"),
            Strings{"layer \"z\" of class TFOpLambda (__operators__.eq) is not supported | Keras 2 "
                    "writes x == y into a file without y. The layer is config.layers[1] of the "
                    "architecture. | Write tensorflow.equal(x, y) or tensorflow.not_equal(x, y)."});
  EXPECT_EQ(operation("linalg.matmul", "{}"),
            Strings{"layer \"z\" of class TFOpLambda (linalg.matmul) is not supported" + place +
                    "Write keras.layers.Dot(axes=...)([x, y]), or keras.layers.Dense for a product "
                    "with weights."});
  EXPECT_EQ(operation("math.bessel_i0", "{}"),
            Strings{"layer \"z\" of class TFOpLambda (math.bessel_i0) is not supported" + place +
                    "Replace it by supported layers; see hopper.layers()."});
}

// Operations of Keras 3: of one whose layer is there, and of one that has another argument here.
TEST(Refusals, OperationsOfKeras3) {
  const auto operation = [](const std::string& entry, const std::string& kwargs) {
    const std::string tensor =
        R"({"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}})";
    return Refusals(R"({"module": "keras", "class_name": "Functional", "config": {"name": "m",
      "layers": [{"module": "keras.layers", "class_name": "InputLayer", "name": "x",
        "config": {"name": "x", "batch_shape": [null, 4]}, "inbound_nodes": []}, {"name": "z", )" +
                    entry + R"(, "inbound_nodes": [{"args": [)" + tensor + R"(], "kwargs": )" +
                    kwargs +
                    R"(}]}], "input_layers": ["x", 0, 0], "output_layers": ["z", 0, 0]}})");
  };
  const Strings average = operation(
      R"("module": "keras.src.ops.numpy", "class_name": "Average", "config": {"name": "z", "axis": 1})",
      "{}");
  ASSERT_EQ(average.size(), 1U);
  EXPECT_EQ(average[0].substr(0, average[0].find(" | ")),
            "layer \"z\" of operation keras.ops.average is not supported");
  const Strings shrink = operation(
      R"("module": "keras.src.ops.nn", "class_name": "SoftShrink", "config": {"name": "z", "threshold": 0.3})",
      "{}");
  ASSERT_EQ(shrink.size(), 1U);
  EXPECT_EQ(shrink[0].substr(0, shrink[0].find(" | ")),
            "layer \"z\" of class Activation: argument \"threshold\" = 0.3 is not supported");
  EXPECT_EQ(operation(R"("module": "keras.src.ops.core", "class_name": "StopGradient",
                      "config": {"name": "z"})",
                      "{}"),
            Strings{"layer \"z\" of operation keras.ops.stop_gradient is not supported | Each "
                    "weight learns from all that comes behind it. The layer is config.layers[1] of "
                    "the architecture. | Set trainable=False in the layers before it, where "
                    "nothing else is to train them."});
}

TEST(Refusals, ArgumentsOfSeveralCells) {
  const auto rnn = [](const char* arguments) {
    const std::string cell = R"({"class_name": "LSTMCell", "config": {"units": 2, "name": "c"}})";
    return Refusals(
        R"({"class_name": "Sequential", "keras_version": "3.10.0", "config": {"layers": [
        {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, 4, 2]}},
        {"class_name": "RNN", "config": {"name": "r", "cell": {"class_name": "StackedRNNCells",
          "config": {"cells": [)" +
        cell + ", " + cell + "]}}, " + arguments + "}}]}}");
  };
  for (const std::string argument : {"go_backwards", "return_state", "stateful"}) {
    EXPECT_EQ(rnn(('"' + argument + "\": true").c_str()),
              Strings{"layer \"r\" of class RNN: argument \"" + argument +
                      "\" of several cells is not supported | The layer is config.layers[1] of the "
                      "architecture. | Write keras.layers.LSTM and its like behind each other, "
                      "return_sequences=True in all but the last; go_backwards=True of the first "
                      "alone is the same where no mask comes in."});
  }
}

// One line a class, however many layers have it.
TEST(Refusals, AClassIsNamedOnce) {
  std::string layers;
  for (int i = 0; i < 30; ++i) {
    layers +=
        R"({"class_name": "RandomHue", "config": {"name": "h)" + std::to_string(i) + R"("}}, )";
  }
  const Strings found =
      Refusals(Sequential(layers + R"({"class_name": "MixUp", "config": {"name": "m"}})"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].substr(0, found[0].find(" | ")),
            "layer \"h0\" of class RandomHue is not supported (nor are 29 more of this class)");
  EXPECT_EQ(found[1].substr(0, found[1].find(" | ")),
            "layer \"m\" of class MixUp is not supported");
  const std::string hue = R"({"class_name": "RandomHue", "config": {"name": "h"}})";
  EXPECT_NE(Refusals(Sequential(hue + ", " + hue))[0].find(" (nor is 1 more of this class) | "),
            std::string::npos);
}

TEST(Refusals, Types) {
  EXPECT_EQ(
      Refusals(Sequential("", R"(, "dtype": "string")")),
      Strings{"input \"i\" is of strings, which no layer makes numbers of | The input is "
              "config.layers[0] of the architecture. | Let keras.layers.StringLookup, Hashing or "
              "TextVectorization read it."});
  EXPECT_EQ(
      Refusals(Sequential("", R"(, "dtype": "float64")")),
      Strings{"input \"i\": dtype \"float64\" is not supported | The input is config.layers[0] "
              "of the architecture. | Declare it as float32 or as an integer type: "
              "keras.Input(shape, dtype=\"float32\")."});
  EXPECT_EQ(
      Refusals(Sequential(R"({"class_name": "Dense", "config": {"name": "d", "units": 2, "dtype":
          {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8"}}}})")),
      Strings{"layer \"d\" of class Dense: dtype \"QuantizedDTypePolicy\" is not supported | The "
              "layer is config.layers[1] of the architecture. | Write the architecture before "
              "model.quantize(), and give the weights as float32."});
  EXPECT_EQ(
      Refusals(Sequential(
          R"({"class_name": "Dense", "config": {"name": "d", "units": 2, "dtype": "float16"}})")),
      Strings{"layer \"d\" of class Dense: dtype \"float16\" is not supported | The layer is "
              "config.layers[1] of the architecture. | Build the model with dtype float32: "
              "keras.config.set_dtype_policy(\"float32\"). Training in bfloat16 is asked for by "
              "dtype => 'bf16'."});
  EXPECT_EQ(
      Refusals(R"({"class_name": "Sequential", "config": {"name": "s", "dtype": "float64",
                         "layers": [{"class_name": "Dense", "config": {"units": 2,
                         "batch_input_shape": [null, 3]}}]}})"),
      Strings{"model \"s\": dtype \"float64\" is not supported | It stands at config.dtype. | "
              "Build the model with dtype float32."});
}

TEST(Refusals, ShapesThatDataDoNotSatisfy) {
  const Shape row{28};
  EXPECT_EQ(
      Refusals(R"({"class_name": "Sequential", "keras_version": "3.10.0", "config": {"name": "s",
      "layers": [{"class_name": "InputLayer", "config": {"name": "i", "batch_shape": [null, null, null, 3]}},
      {"class_name": "Flatten", "config": {"name": "f"}}]}})",
               &row),
      Strings{"model expects input of shape ?x?x3 but the data have shape 28 | The input is "
              "config.layers[0] of the architecture. | Reshape when packing, or start the "
              "model with Reshape."});
}

TEST(Refusals, Graphs) {
  EXPECT_EQ(
      Refusals(Functional(R"([[["b", 0, 0, {}]]])", R"([[["a", 0, 0, {}]]])")),
      Strings{"layer \"a\" does not depend on the model's input alone | It is part of a cycle, "
              "or an input is not among the model's inputs. It is config.layers[1] of the "
              "architecture. | Build the model with all its inputs: keras.Model(inputs=[a, b], "
              "outputs=y)."});
  EXPECT_EQ(
      Refusals(Functional(R"([[["x", 0, 0, {}]]])", R"([[["aa", 0, 0, {}]]])")),
      Strings{"model \"m\" has no layer \"aa\" | It is named at config.layers[2].inbound_nodes "
              "of the architecture. | Perhaps you meant \"a\"."});
  EXPECT_EQ(
      Refusals(Functional(R"([[["x", 0, 0, {}]]])", R"([[["a", 0, 0, {}]]])", "b", "missing")),
      Strings{"model \"m\" has no layer \"missing\" | It is named at config.output_layers of the "
              "architecture. | "});
  EXPECT_EQ(
      Refusals(Functional(R"([[["x", 0, 0, {}]]])", R"([[["a", 0, 0, {}]]])", "a", "a")),
      Strings{"model \"m\" has two layers named \"a\" | The second is config.layers[2] of the "
              "architecture. | Give each layer a name of its own, such as keras.layers.Dense(4, "
              "name=\"second\")."});
}

// An input of strings of a shape, and layers behind it.
std::string OfStrings(const std::string& shape, const std::string& layers) {
  return R"({"class_name": "Functional", "keras_version": "2.15.0", "config": {"name": "m", "layers": [
      {"name": "plan", "class_name": "InputLayer", "config": {"name": "plan", "dtype": "string",
       "batch_input_shape": )" +
         shape + R"(}, "inbound_nodes": []}, )" + layers +
         R"(], "input_layers": [["plan", 0, 0]], "output_layers": [["b", 0, 0]]}})";
}

std::string Lookup(const std::string& name, const std::string& input, const std::string& more) {
  return R"({"name": ")" + name + R"(", "class_name": "StringLookup", "config": {"name": ")" +
         name + R"(", )" + more + R"(}, "inbound_nodes": [[[")" + input + R"(", 0, 0, {}]]]})";
}

TEST(Refusals, LayersThatPrepareColumns) {
  const std::string given = R"("vocabulary": ["basic", "gold"])";
  const auto starts = [](const std::string& text, const std::string& begin) {
    const Strings found = Refusals(text);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].substr(0, begin.size()), begin);
  };
  starts(OfStrings("[null, 1]", Lookup("b", "plan", R"("vocabulary": null)")),
         "layer \"b\" of class StringLookup: argument \"vocabulary\" is missing, and "
         "model.to_json() does not write what adapt() has learnt | ");
  starts(OfStrings("[null, 1]", Lookup("b", "plan", R"("vocabulary": "file.txt")")),
         "layer \"b\" of class StringLookup: argument \"vocabulary\" must be a list of texts or "
         "whole numbers, not \"file.txt\" | ");
  starts(OfStrings("[null, 1]", Lookup("b", "plan", given + R"(, "invert": true)")),
         "layer \"b\" of class StringLookup: argument \"invert\" is not supported | ");
  starts(OfStrings("[null, 1]",
                   Lookup("a", "plan", given) + ", " + Lookup("b", "a", R"("vocabulary": [1])")),
         "layer \"b\" of class StringLookup reads what another layer puts out, which is not "
         "supported | ");
  starts(OfStrings("[null, 1]", Lookup("a", "plan", given) + ", " +
                                    Lookup("b", "plan", R"("vocabulary": ["gold", "basic"])")),
         "input \"plan\" is read by layer \"a\" and by layer \"b\", which need other numbers of "
         "it | ");
  starts(OfStrings("[null, 2]", Lookup("b", "plan", given)),
         "input \"plan\" has several values in an example, of which layer \"b\" makes ids | ");
  for (const char* salt : {R"(["1],\"bins\":[2", "3"])", "[1, -2]", "[1, 2, 3]"}) {
    starts(
        OfStrings("[null, 1]",
                  R"({"name": "b", "class_name": "Hashing", "config": {"name": "b", "num_bins": 9,
                      "salt": )" +
                      std::string(salt) + R"(}, "inbound_nodes": [[["plan", 0, 0, {}]]]})"),
        "layer \"b\" of class Hashing: argument \"salt\" must be one or two whole numbers of 0 "
        "or more | ");
  }
  // The vocabulary alone decides, not how its ids are encoded.
  std::vector<Problem> problems;
  EXPECT_NE(ParseModel(OfStrings("[null, 1]",
                                 Lookup("a", "plan", given) + ", " +
                                     Lookup("b", "plan", given + R"(, "output_mode": "one_hot")")),
                       nullptr, &problems),
            nullptr)
      << problems[0].message;
}

// 5^16 ways lead through the models to the layer that reads the input.
TEST(Refusals, ModelsThatCallEachOtherOften) {
  std::string model =
      R"({"name": "m", "layers": [{"class_name": "InputLayer", "name": "x", "config":
      {"name": "x", "batch_shape": [null, 1], "dtype": "string"}, "inbound_nodes": []},
      {"class_name": "StringLookup", "name": "s", "config": {"name": "s", "vocabulary": ["a"]},
       "inbound_nodes": [[["x", 0, 0, {}]]]}])";
  const std::string ends = R"(, "input_layers": [["x", 0, 0]], "output_layers": [["s", 0, 0]]})";
  model += ends;
  for (int depth = 0; depth < 16; ++depth) {
    std::string outer =
        R"({"name": "m", "layers": [{"class_name": "InputLayer", "name": "x", "config":
      {"name": "x", "batch_shape": [null, 1], "dtype": "string"}, "inbound_nodes": []},
      {"class_name": "Functional", "name": "i", "config": )";
    outer += model + R"(, "inbound_nodes": [[["x", 0, 0, {}]], [["x", 0, 0, {}]], [["x", 0, 0, {}]],
      [["x", 0, 0, {}]], [["x", 0, 0, {}]]]}, {"class_name": "Add", "name": "s", "config": {"name": "s"},
       "inbound_nodes": [[["i", 0, 0, {}], ["i", 1, 0, {}], ["i", 2, 0, {}], ["i", 3, 0, {}],
      ["i", 4, 0, {}]]]}])";
    model = outer + ends;
  }
  EXPECT_EQ(Refusals(R"({"class_name": "Functional", "config": )" + model + "}"),
            Strings{"model calls its layers too often | The limit is 10000 calls. | "});
}

TEST(Refusals, Sizes) {
  EXPECT_EQ(Refusals(Sequential(
                R"({"class_name": "RepeatVector", "config": {"name": "r", "n": 1000000000}})")),
            Strings{"output of layer \"r\" is too large: its shape is 1000000000x4 | The limit is "
                    "2147483647 values. The layer is config.layers[1] of the architecture, called "
                    "with 4. | Give layers fewer units, or let pooling come before Flatten."});
  EXPECT_EQ(
      Refusals(Sequential(
          R"({"class_name": "Reshape", "config": {"name": "r", "target_shape": [2, 2, 1]}},
        {"class_name": "Conv2D", "config": {"name": "c", "filters": 2, "kernel_size": 3}})")),
      Strings{
          "layer \"c\" of class Conv2D: a window of 3x3 does not fit into an input of shape 2x2x1 "
          "| The layer is config.layers[2] of the architecture, called with 2x2x1. | Use padding "
          "\"same\", or fewer layers that shrink the image."});
}

// Detours are of layers that Keras has and we have not, and name those that are there.
TEST(Refusals, DetoursNameLayersThatAreThere) {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_versions.json");
  const json keras = json::parse(file);
  int detours = 0;
  for (const auto& [name, layer] : keras.items()) {
    SCOPED_TRACE(name);
    const Detour* detour = DetourOfLayer(name);
    if (detour == nullptr) continue;
    ++detours;
    EXPECT_EQ(FindLayerType(name), nullptr);
    const std::string hint = detour->hint;
    EXPECT_FALSE(hint.empty());
    const std::string prefix = "keras.layers.";
    for (size_t at = hint.find(prefix); at != hint.npos; at = hint.find(prefix, at + 1)) {
      const size_t from = at + prefix.size();
      const std::string named =
          hint.substr(from, hint.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
                                                   from) -
                                from);
      EXPECT_NE(FindLayerType(named), nullptr) << named;
    }
  }
  EXPECT_GT(detours, 50);
}

// Each class that Keras has is there, or is refused with what to write instead.
TEST(Refusals, EachLayerOfKerasIsThereOrHasADetour) {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_classes.json");
  // What others derive from, and models write in other ways.
  const std::set<std::string> others = {"AbstractRNNCell", "InputLayer", "Layer", "Wrapper"};
  const json versions = json::parse(file);
  for (const auto& [keras, classes] : versions.items()) {
    SCOPED_TRACE(keras);
    int there = 0, refused = 0;
    for (const json& one : classes) {
      const std::string name = one;
      SCOPED_TRACE(name);
      if (others.count(name) != 0) continue;
      if (FindLayerType(name) != nullptr) {
        ++there;
        continue;
      }
      const Strings found =
          Refusals(Sequential(R"({"class_name": ")" + name + R"(", "config": {"name": "l"}})"));
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(found[0].find("layer \"l\" of class " + name + " is not supported | "), 0U);
      EXPECT_EQ(found[0].find("Replace it by supported layers"), found[0].npos) << found[0];
      ++refused;
    }
    RecordProperty(keras,
                   std::to_string(there) + " there, " + std::to_string(refused) + " refused");
    EXPECT_EQ(there, keras[0] == 'k' ? 86 : 85);
    EXPECT_EQ(refused, keras[0] == 'k' ? 54 : 23);
  }
}

}  // namespace
}  // namespace hopper
