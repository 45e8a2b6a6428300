// What the parser says about input that is wrong, and that nothing brings it down.
#include "model/spec.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "model/architectures.h"
#include "model/fixtures.h"
#include "model/keras/json_text.h"
#include "params/readings.h"
#include "support/repetitions.h"

namespace hopper {
namespace {

using hopper_test::DenseEntry;
using hopper_test::LayerEntry;
using hopper_test::SequentialModel;
using nlohmann::json;

std::vector<Problem> ProblemsOf(const std::string& text, const Shape* data_shape = nullptr) {
  std::vector<Problem> problems;
  const auto spec = ParseModel(text, data_shape, &problems);
  EXPECT_EQ(spec == nullptr, !problems.empty());
  return problems;
}

Problem OnlyProblem(const json& model, const Shape* data_shape = nullptr) {
  const std::vector<Problem> problems = ProblemsOf(model.dump(), data_shape);
  EXPECT_EQ(problems.size(), 1u);
  return problems.empty() ? Problem() : problems[0];
}

Problem LayerProblem(const std::string& class_name, json config, std::vector<int> input = {4}) {
  config["name"] = "it";
  return OnlyProblem(SequentialModel(input, {LayerEntry(class_name, config)}));
}

TEST(Spec, IsReadOnceForTheSameData) {
  json model = SequentialModel({1}, {DenseEntry(2)});
  model["config"]["layers"][0]["config"]["batch_shape"][1] = nullptr;
  const std::string text = model.dump();
  const ReadOnce<ModelReading>& readings = ProcessReadings().models;
  const int64_t before = readings.count();
  const Shape four{4}, five{5};
  const auto first = ParseModel(text, &four);
  EXPECT_EQ(ParseModel(text, &four), first);
  EXPECT_EQ(readings.count(), before + 1);
  const auto other = ParseModel(text, &five);
  EXPECT_EQ(other->input_shape(), five);
  EXPECT_EQ(first->input_shape(), four);
  EXPECT_EQ(readings.count(), before + 2);
  const auto seen = ProblemsOf("{\"class_name\": 3}");
  const auto again = ProblemsOf("{\"class_name\": 3}");
  ASSERT_EQ(again.size(), seen.size());
  EXPECT_EQ(again[0].message, seen[0].message);
  EXPECT_EQ(again[0].detail, seen[0].detail);
  EXPECT_EQ(readings.count(), before + 3);
}

TEST(Spec, BadJsonNamesThePosition) {
  const auto problem = [](const std::string& text) {
    const auto problems = ProblemsOf(text);
    EXPECT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].code, ErrorCode::kInvalidText);
    EXPECT_EQ(problems[0].message, "model architecture is not valid JSON");
    EXPECT_EQ(problems[0].hint, kArchitectureHint);
    return problems[0].detail;
  };
  EXPECT_EQ(problem("{\"class_name\": \"Sequential\",\n \"config\": oops}"),
            "The error is at position 41 (line 2, column 12), near \"\"config\": oops}\".");
  EXPECT_EQ(problem(""), "The text is empty.");
  EXPECT_EQ(problem("  \n"), "The text is empty.");
  EXPECT_EQ(problem("{\"class_name\": \"Sequ"), "The text ends too early, after \"me\": \"Sequ\".");
  EXPECT_EQ(problem("{\"rate\": NaN}"),
            "The error is at position 10 (line 1, column 10), near \"{\"rate\": NaN}\".");
  EXPECT_EQ(problem("{\"x\": 1e999}"),
            "A number is too large, at position 7 (line 1, column 7), near \"{\"x\": 1e999}\".");
  EXPECT_EQ(
      problem("{\"list\": [1,\n  1e400, 2]}"),
      "A number is too large, at position 16 (line 2, column 3), near \"t\": [1,   1e400, 2]}\".");
  problem("{\"class_name\": \"\xff\xfe\"}");
}

TEST(Spec, ArchitecturesByHandAreHelped) {
  const auto found = [](const std::string& text) {
    std::string lines;
    for (const Problem& problem : ProblemsOf(text)) {
      lines += problem.message + " | " + problem.detail + " | " + problem.hint + "\n";
    }
    return lines;
  };
  const auto layers = [&](const std::string& list) {
    return found(R"({"class_name": "Sequential", "config": {"layers": [)" + list + "]}}");
  };
  const std::string first = "layer \"config.layers[0]\" of class ";
  const std::string place = " | The layer is config.layers[0] of the architecture. | ";
  // The hint is an architecture that can be loaded.
  const std::string hint = kArchitectureHint;
  const std::string example = hint.substr(hint.find('{'), hint.size() - 1 - hint.find('{'));
  const Shape shape{4};
  EXPECT_TRUE(ProblemsOf(example, &shape).empty());
  EXPECT_EQ(found("{'class_name': 'Sequential'}"),
            "model architecture is not valid JSON | The error is at position 2 (line 1, column 2), "
            "near \"{'class_name': 'Sequ\". | JSON wants double quotes, also where Python has "
            "single ones.\n");
  EXPECT_EQ(found(R"({"class_name": "sequential", "config": {"layers": []}})"),
            "model class \"sequential\" is not supported | Sequential and Functional models are "
            "supported. | Perhaps you meant \"Sequential\".\n");
  EXPECT_EQ(
      layers(""),
      "model \"sequential\" has no layers | The list at config.layers is empty. | " + hint + "\n");
  EXPECT_EQ(layers(R"({"class_name": "dense", "config": {"units": 3}})"),
            "layer class \"dense\" is not known | It is the class of layer \"config.layers[0]\". | "
            "Perhaps you meant \"Dense\".\n");
  EXPECT_EQ(layers(R"({"class_name": "BatchNorm1d"})"),
            "layer class \"BatchNorm1d\" is not known | It is the class of layer "
            "\"config.layers[0]\". | Perhaps you meant \"BatchNormalization\".\n");
  // One problem, and no word of the shape that data will give.
  EXPECT_EQ(layers(R"({"class_name": "Dense", "config": {"unit": 16}})"),
            first + "Dense: argument \"units\" is missing" + place +
                "Perhaps you meant \"units\" where \"unit\" stands.\n");
  EXPECT_EQ(layers(R"({"class_name": "Dense", "config": {"out_features": 16}})"),
            first + "Dense: argument \"units\" is missing" + place +
                "Perhaps you meant \"units\" where \"out_features\" stands.\n");
  EXPECT_EQ(layers(R"({"class_name": "Dense"})"),
            first + "Dense: argument \"units\" is missing" + place + "\n");
  EXPECT_EQ(layers(R"({"class_name": "Dropout", "config": {"p": 0.5}})"),
            first + "Dropout: argument \"p\" = 0.5 is not known" + place +
                "Perhaps you meant \"rate\".\n");
  EXPECT_EQ(layers(R"({"class_name": "Dense", "config": {"units": 2, "kernel_initializer":
                   "xavier"}})"),
            first +
                "Dense: argument \"kernel_initializer\": initializer \"xavier\" is not "
                "supported" +
                place + "Perhaps you meant \"glorot_uniform\".\n");
  EXPECT_EQ(
      layers(R"({"class_name": "Dense", "config": {"units": 2, "batch_input_shape": [4]}})"),
      "model \"sequential\" has an input without axes | The first axis of a batch_shape or "
      "batch_input_shape is the batch's. | Write [null, 4] for four features, for example.\n");
  // A layer whose arguments all have defaults needs no config.
  EXPECT_TRUE(ProblemsOf(R"({"class_name": "Sequential", "config": {"layers": [
      {"class_name": "Flatten"}, {"class_name": "Dense", "config": {"units": 2}}]}})",
                         &shape)
                  .empty());
}

TEST(Spec, JsonThatIsNoModel) {
  EXPECT_EQ(ProblemsOf("[]")[0].message, "model architecture is not a Keras model");
  EXPECT_EQ(ProblemsOf("{}")[0].code, ErrorCode::kInvalidText);
  EXPECT_EQ(ProblemsOf(R"({"class_name": "MyModel", "config": {}})")[0].message,
            "model class \"MyModel\" is not supported");
  EXPECT_EQ(ProblemsOf(R"({"class_name": "Sequential", "config": {"name": "m", "layers": []}})")[0]
                .message,
            "model \"m\" has no layers");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += '[';
  EXPECT_EQ(ProblemsOf(deep)[0].message, "model architecture is nested too deeply");
}

// json.dump(model.to_json(), file), also more than once.
TEST(Spec, JsonThatIsEncodedOnceMore) {
  const std::string text = SequentialModel({4}, {DenseEntry(2)}).dump();
  const std::string twice = json(text).dump();
  EXPECT_EQ(ParseModel(twice, nullptr)->hash, ParseModel(text, nullptr)->hash);
  EXPECT_EQ(ParseModel(json(twice).dump(), nullptr)->hash, ParseModel(text, nullptr)->hash);
  EXPECT_EQ(ProblemsOf(R"("a text")")[0].detail, "The JSON is a string.");
  EXPECT_EQ(ProblemsOf(R"("{\"class_name\": ")")[0].message,
            "model architecture is not valid JSON");
}

// The message of each is in refusals_test.cpp.
TEST(Spec, ALayerIsOfKerasOrOfTheUser) {
  json custom = LayerEntry("Attn", {{"name", "attn"}});
  custom["module"] = "mine";
  custom["registered_name"] = "MyPackage>Attn";
  Problem problem = OnlyProblem(SequentialModel({4}, {custom}));
  EXPECT_EQ(problem.code, ErrorCode::kNotSupported);
  EXPECT_EQ(problem.message, "layer class \"MyPackage>Attn\" is not known");

  custom["registered_name"] = nullptr;
  custom["class_name"] = "Dense";  // somebody else's
  problem = OnlyProblem(SequentialModel({4}, {custom}));
  EXPECT_EQ(problem.message, "layer class \"Dense\" is not known");
}

TEST(Spec, AttributesAreChecked) {
  EXPECT_EQ(LayerProblem("Dense", {{"units", "ten"}}).message,
            "layer \"it\" of class Dense: argument \"units\" must be an integer, not \"ten\"");
  EXPECT_EQ(LayerProblem("Dense", {{"units", 3}, {"use_bias", 1}}).message,
            "layer \"it\" of class Dense: argument \"use_bias\" must be true or false, not 1");
  EXPECT_EQ(LayerProblem("Dense", {{"units", int64_t{1} << 40}}).code, ErrorCode::kLimitExceeded);
  Problem problem = LayerProblem("Dense", {{"units", 3}, {"use_bais", true}});
  EXPECT_EQ(problem.message,
            "layer \"it\" of class Dense: argument \"use_bais\" = true is not known");
  EXPECT_EQ(problem.hint, "Perhaps you meant \"use_bias\".");
  problem = LayerProblem("Dense", {{"units", 3}, {"activation", "rleu"}});
  EXPECT_EQ(problem.message, "layer \"it\" of class Dense: activation \"rleu\" is not supported");
  EXPECT_EQ(problem.hint, "Perhaps you meant \"relu\".");
  EXPECT_EQ(
      LayerProblem("Dense", {{"units", 3}, {"kernel_initializer", "magic"}}).message,
      "layer \"it\" of class Dense: argument \"kernel_initializer\": initializer \"magic\" is "
      "not supported");
  EXPECT_EQ(LayerProblem("Dense", {{"units", 3}, {"kernel_regularizer", "magic"}}).hint,
            "L1, L2 and L1L2 are supported.");
  const auto initializer = [](const char* class_name, const json& arguments) {
    const json value = {{"class_name", class_name}, {"config", arguments}};
    return LayerProblem("Dense", {{"units", 3}, {"kernel_initializer", value}});
  };
  problem = initializer("Constant", {{"value", "x"}});
  EXPECT_EQ(problem.code, ErrorCode::kInvalidParameter);
  EXPECT_EQ(problem.message,
            "layer \"it\" of class Dense: argument \"kernel_initializer\": the arguments of "
            "initializer {\"class_name\":\"Constant\",\"config\":{\"valu... are wrong");
  EXPECT_EQ(initializer("RandomNormal", {{"stddev", true}}).code, ErrorCode::kInvalidParameter);
  EXPECT_EQ(initializer("VarianceScaling", {{"scale", 0}}).code, ErrorCode::kInvalidParameter);
  EXPECT_EQ(initializer("VarianceScaling", {{"mode", "fan"}}).code, ErrorCode::kInvalidParameter);
  // Keras has these, and we have not.
  EXPECT_EQ(initializer("Constant", {{"value", {1, 2, 3}}}).code, ErrorCode::kNotSupported);
  EXPECT_EQ(initializer("VarianceScaling", {{"input_axes", {0}}}).code, ErrorCode::kNotSupported);
  EXPECT_EQ(LayerProblem("Dense", {{"units", 3},
                                   {"kernel_initializer", "identity"},
                                   {"bias_initializer", "orthogonal"}})
                .message,
            "weight \"bias\" of layer \"it\" has shape 3, which its initializer cannot fill");
  // Nor do those that nobody could have meant for another one, but that is said.
  const auto noted = ParseModel(
      SequentialModel(
          {4}, {LayerEntry("Dense", {{"name", "layer_0"}, {"units", 3}, {"comment", "wide"}})})
          .dump(),
      nullptr);
  ASSERT_EQ(noted->warnings.size(), 1u);
  EXPECT_EQ(
      noted->warnings[0].message,
      "layer \"layer_0\" of class Dense: argument \"comment\" = \"wide\" is not known and has "
      "no effect");
  EXPECT_EQ(LayerProblem("Dense", {{"units", 3}, {"lora_rank", 4}}).message,
            "layer \"it\" of class Dense: argument \"lora_rank\" is not supported");
  EXPECT_EQ(LayerProblem("Flatten", {{"lora_rank", 4}}).message,
            "layer \"it\" of class Flatten: argument \"lora_rank\" = 4 is not known");
  // Policies whose weights are float32.
  for (const char* policy : {"mixed_float16", "mixed_bfloat16"}) {
    const json of_keras_2 = {{"class_name", "Policy"}, {"config", {{"name", policy}}}};
    for (const json& dtype : {json(policy), of_keras_2}) {
      EXPECT_TRUE(
          ProblemsOf(
              SequentialModel({4}, {LayerEntry("Dense", {{"units", 3}, {"dtype", dtype}})}).dump())
              .empty());
    }
  }
  // Unknown keys with values that mean nothing do no harm.
  EXPECT_TRUE(
      ProblemsOf(SequentialModel({4}, {LayerEntry("Dense", {{"units", 3},
                                                            {"quantization_config", nullptr},
                                                            {"new_flag", false},
                                                            {"new_list", json::array()}})})
                     .dump())
          .empty());
}

TEST(Spec, AllProblemsAreCollected) {
  const json model = SequentialModel(
      {4}, {LayerEntry("Dense", {{"units", "x"}}), LayerEntry("Dense", {{"units", -1}}),
            LayerEntry("Dropout", {{"rate", 2.0}}), DenseEntry(2)});
  EXPECT_GE(ProblemsOf(model.dump()).size(), 3u);
  try {
    ParseModel(model.dump(), nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.problem().detail.find("2. layer"), std::string::npos) << error.problem().detail;
  }
}

TEST(Spec, InputShapes) {
  json open = SequentialModel({28, 28, 1}, {LayerEntry("Flatten", json::object()), DenseEntry(2)});
  json& batch_shape = open["config"]["layers"][0]["config"]["batch_shape"];
  batch_shape = {nullptr, nullptr, nullptr, 1};
  const Problem problem = OnlyProblem(open);
  EXPECT_EQ(problem.code, ErrorCode::kNotReady);
  EXPECT_EQ(problem.message, "model \"sequential\" leaves its input shape open: ?x?x1");
  const Shape image = {28, 28, 1};
  const Shape grey = {28, 28};
  const Shape wrong = {28, 28, 3};
  EXPECT_EQ(ParseModel(open.dump(), &image)->input_shape(), image);
  EXPECT_EQ(ParseModel(open.dump(), &grey)->input_shape(), image);
  EXPECT_EQ(OnlyProblem(open, &wrong).message,
            "model expects input of shape ?x?x1 but the data have shape 28x28x3");
  // A shape that the file states is not changed by the data.
  batch_shape = {nullptr, 14, 14, 1};
  EXPECT_EQ(ParseModel(open.dump(), &image)->input_shape(), (Shape{14, 14, 1}));
  // Keras 2: batch_input_shape on the first layer, or in the model's own config.
  const json dense = {{"class_name", "Dense"}, {"config", {{"name", "d"}, {"units", 2}}}};
  json sequential = {{"class_name", "Sequential"},
                     {"config", {{"name", "m"}, {"layers", {dense}}}},
                     {"keras_version", "2.4.0"}};
  EXPECT_EQ(OnlyProblem(sequential).message, "model \"m\" does not state its input shape");
  sequential["config"]["build_input_shape"] = {nullptr, 7};
  EXPECT_EQ(ParseModel(sequential.dump(), nullptr)->input_shape(), Shape{7});
  sequential["config"]["layers"][0]["config"]["batch_input_shape"] = {nullptr, 5};
  EXPECT_EQ(ParseModel(sequential.dump(), nullptr)->input_shape(), Shape{5});
}

TEST(Spec, LimitsHold) {
  EXPECT_EQ(OnlyProblem(SequentialModel({100000}, {DenseEntry(100000)})).code,
            ErrorCode::kLimitExceeded);
  // 2 x 2^30 floats: each weight fits, the model does not.
  EXPECT_EQ(OnlyProblem(SequentialModel({32768}, {DenseEntry(32768), DenseEntry(32768)})).message,
            "model \"sequential\" has 2147549184 parameters");
  EXPECT_EQ(OnlyProblem(SequentialModel({65536, 65536}, {DenseEntry(2)})).code,
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(OnlyProblem(SequentialModel({1, 1, 1, 1, 1, 1, 1, 1, 1}, {DenseEntry(2)})).code,
            ErrorCode::kLimitExceeded);
}

// Each level calls the one below twice: 2^40 calls in a file of a few kilobytes.
TEST(Spec, NestedCallsDoNotExplode) {
  json model;
  for (int level = 0; level < 40; ++level) {
    const std::string at = std::to_string(level);
    const json input = {{"name", "x"},
                        {"class_name", "InputLayer"},
                        {"config", {{"name", "x"}, {"batch_input_shape", {nullptr, 3}}}},
                        {"inbound_nodes", json::array()}};
    json inner = {{"name", "inner"},
                  {"class_name", "Activation"},
                  {"config", {{"name", "inner"}, {"activation", "relu"}}}};
    if (level > 0) {
      inner = model;
      inner["name"] = "inner";
    }
    inner["inbound_nodes"] = json::parse(R"([[["x", 0, 0, {}]], [["inner", 1, 0, {}]]])");
    if (level == 0) inner["inbound_nodes"] = json::parse(R"([[["x", 0, 0, {}]]])");
    model = {{"class_name", "Functional"},
             {"config",
              {{"name", "level" + at},
               {"layers", {input, inner}},
               {"input_layers", {{"x", 0, 0}}},
               {"output_layers", {{"inner", level == 0 ? 0 : 2, 0}}}}},
             {"keras_version", "2.4.0"}};
  }
  const auto problems = ProblemsOf(model.dump());
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].message, "model calls its layers too often");
  EXPECT_LT(problems.size(), 10u);
}

json FunctionalJson(const std::string& inbound_a, const std::string& inbound_b) {
  return json::parse(R"({"class_name": "Functional", "keras_version": "2.4.0", "config": {
    "name": "m", "layers": [
      {"name": "x", "class_name": "InputLayer",
       "config": {"name": "x", "batch_input_shape": [null, 3]}, "inbound_nodes": []},
      {"name": "a", "class_name": "Add", "config": {"name": "a"}, "inbound_nodes": )" +
                     inbound_a + R"(},
      {"name": "b", "class_name": "Dense", "config": {"name": "b", "units": 3},
       "inbound_nodes": )" +
                     inbound_b + R"(}],
    "input_layers": [["x", 0, 0]], "output_layers": [["b", 0, 0]]}})");
}

// Two inputs that are joined; the data may have them in any order.
TEST(Spec, SeveralInputsAreFoundByTheirNames) {
  const std::string text = json::parse(R"({"class_name": "Functional", "keras_version": "2.4.0",
    "config": {"name": "m", "layers": [
      {"name": "a", "class_name": "InputLayer",
       "config": {"name": "a", "batch_input_shape": [null, 2]}, "inbound_nodes": []},
      {"name": "b", "class_name": "InputLayer",
       "config": {"name": "b", "batch_input_shape": [null, null]}, "inbound_nodes": []},
      {"name": "joined", "class_name": "Concatenate", "config": {"name": "joined"},
       "inbound_nodes": [[["a", 0, 0, {}], ["b", 0, 0, {}]]]}],
    "input_layers": [["a", 0, 0], ["b", 0, 0]], "output_layers": [["joined", 0, 0]]}})")
                               .dump();
  const DataInput a{"a", {2}, ValueType::kFloat32};
  const DataInput b{"b", {3}, ValueType::kInt16};
  const auto spec = ParseModelFor(text, {b, a});
  EXPECT_EQ(spec->input_shape(), Shape{5});
  EXPECT_EQ(spec->output_shape(), Shape{5});
  ASSERT_EQ(spec->inputs.size(), 2u);
  EXPECT_EQ(spec->inputs[0].name, "a");
  EXPECT_EQ(spec->inputs[0].first, 3);  // behind b
  EXPECT_EQ(spec->inputs[1].first, 0);
  EXPECT_EQ(spec->inputs[1].shape, Shape{3});  // open in the file
  const auto message_for = [&](const std::vector<DataInput>& inputs) {
    std::vector<Problem> problems;
    EXPECT_EQ(ParseModelFor(text, inputs, &problems), nullptr);
    return problems.empty() ? "" : problems[0].message;
  };
  EXPECT_EQ(message_for({a}),
            "model \"m\" has the inputs \"a\", \"b\" but the data have one input without a name");
  EXPECT_EQ(message_for({a, {"c", {3}, ValueType::kInt16}}),
            "model \"m\" has the inputs \"a\", \"b\" but the data have \"a\", \"c\"");
  // Of one row of numbers the inputs are parts, where all their shapes are stated.
  std::string closed = text;
  const size_t open = closed.find("[null,null]");
  ASSERT_NE(open, std::string::npos);
  closed.replace(open, 11, "[null,3]");
  const auto of_row = ParseModelFor(closed, {{"", {5}, ValueType::kFloat32}});
  ASSERT_NE(of_row, nullptr);
  EXPECT_EQ(of_row->inputs[0].first, 0);
  EXPECT_EQ(of_row->inputs[1].first, 2);
  EXPECT_EQ(message_for({{"", {5}, ValueType::kFloat32}}),
            "model \"m\" has the inputs \"a\", \"b\" but the data have one input without a name");
  // Without any name in common it is the order that counts.
  const auto by_order =
      ParseModelFor(text, {{"x", {2}, ValueType::kFloat32}, {"y", {3}, ValueType::kFloat32}});
  ASSERT_NE(by_order, nullptr);
  EXPECT_EQ(by_order->inputs[0].first, 0);
  EXPECT_EQ(by_order->inputs[1].first, 2);
  EXPECT_EQ(message_for({{"x", {5}, ValueType::kFloat32}, {"y", {3}, ValueType::kFloat32}}),
            "model \"m\" has the inputs \"a\", \"b\" but the data have \"x\", \"y\"");
  EXPECT_EQ(message_for({{"a", {4}, ValueType::kFloat32}, b}),
            "input \"a\" expects shape 2 but the data have shape 4");
  std::vector<Problem> problems;
  EXPECT_EQ(ParseModel(text, nullptr, &problems), nullptr);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, ErrorCode::kNotReady);
}

TEST(Spec, BrokenGraphs) {
  EXPECT_TRUE(
      ProblemsOf(FunctionalJson(R"([[["x",0,0,{}],["x",0,0,{}]]])", R"([[["a",0,0,{}]]])").dump())
          .empty());
  EXPECT_EQ(OnlyProblem(FunctionalJson(R"([[["x",0,0,{}],["b",0,0,{}]]])", R"([[["a",0,0,{}]]])"))
                .message,
            "layer \"a\" does not depend on the model's input alone");
  EXPECT_EQ(OnlyProblem(FunctionalJson(R"([[["y",0,0,{}]]])", R"([[["a",0,0,{}]]])")).message,
            "model \"m\" has no layer \"y\"");
  EXPECT_EQ(OnlyProblem(FunctionalJson("[]", R"([[["x",0,0,{}]]])")).message,
            "layer \"a\" is not connected");
  EXPECT_EQ(
      OnlyProblem(FunctionalJson(R"([[["x",0,0,{}]], [["x",0,0,{}]]])", R"([[["a",3,0,{}]]])"))
          .message,
      "layer \"a\": has no call number 3");
  EXPECT_EQ(OnlyProblem(FunctionalJson(R"([[["x",0,5,{}]]])", R"([[["a",0,0,{}]]])")).message,
            "layer \"x\" has no output 5");
}

// x, the layer "a" called with these keyword arguments, Dense: a file of Keras 3.
std::string CalledOnce(const std::string& class_name, const std::string& arguments,
                       const std::string& kwargs, const std::string& shape) {
  const auto tensor = [](const char* of) {
    return std::string(R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")") +
           of + R"(", 0, 0]}})";
  };
  const std::string module = R"("module": "keras.layers", "registered_name": null, )";
  return R"({"module": "keras", "class_name": "Functional", "config": {"name": "m", "layers": [
      {)" +
         module + R"("class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"name": "x", "batch_shape": [null, )" +
         shape + R"(]}},
      {)" +
         module + R"("class_name": ")" + class_name + R"(", "name": "a", "config": {"name": "a")" +
         arguments + R"(}, "inbound_nodes": [{"args": [)" + tensor("x") + R"(], "kwargs": )" +
         kwargs + R"(}]}, {)" + module +
         R"("class_name": "Flatten", "name": "b", "config": {"name": "b"},
       "inbound_nodes": [{"args": [)" +
         tensor("a") + R"(], "kwargs": {}}]}],
      "input_layers": ["x", 0, 0], "output_layers": ["b", 0, 0]}})";
}

// What Keras 3 writes at each call says nothing, and what it writes only where somebody said so is
// meant. Defaults: inspect.signature() of call() in Keras 3.15.
TEST(Spec, TrainingAtACall) {
  struct Row {
    const char* class_name;
    const char* arguments;
    const char* shape;
    bool usual;         // its default, which Keras 3 writes
    const char* still;  // arguments with which it computes the same in training
  };
  const Row rows[] = {
      {"Dropout", R"(, "rate": 0.5)", "4", false, R"(, "rate": 0.0)"},
      {"SpatialDropout1D", R"(, "rate": 0.5)", "4, 2", false, R"(, "rate": 0.0)"},
      {"GaussianNoise", R"(, "stddev": 0.5)", "4", false, R"(, "stddev": 0.0)"},
      {"GaussianDropout", R"(, "rate": 0.5)", "4", false, R"(, "rate": 0.0)"},
      {"AlphaDropout", R"(, "rate": 0.5)", "4", false, R"(, "rate": 0.0)"},
      {"LSTM", R"(, "units": 2, "dropout": 0.2)", "4, 2", false, R"(, "units": 2)"},
      {"GRU", R"(, "units": 2, "recurrent_dropout": 0.2)", "4, 2", false, R"(, "units": 2)"},
      {"RandomFlip", "", "4, 4, 1", true, nullptr},
      {"RandomCrop", R"(, "height": 2, "width": 2)", "4, 4, 1", true, nullptr},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.class_name);
    const auto model = [&](const char* kwargs, const char* arguments) {
      return CalledOnce(row.class_name, arguments, kwargs, row.shape);
    };
    const auto plain = ParseModel(model("{}", row.arguments), nullptr);
    const std::string on = R"({"training": true})", off = R"({"training": false})";
    const auto usual = ParseModel(model((row.usual ? on : off).c_str(), row.arguments), nullptr);
    EXPECT_EQ(usual->hash, plain->hash);
    EXPECT_FALSE(usual->nodes[0].inference);
    if (row.usual) {
      EXPECT_TRUE(ParseModel(model(off.c_str(), row.arguments), nullptr)->nodes[0].inference);
      continue;
    }
    const auto problems = ProblemsOf(model(on.c_str(), row.arguments));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].message,
              "layer \"a\" is called with training=True, which is not supported");
    EXPECT_EQ(problems[0].code, ErrorCode::kNotSupported);
    EXPECT_TRUE(ProblemsOf(model(on.c_str(), row.still)).empty());
  }
}

TEST(Spec, FinalActivationOnlyWhereItEndsTheModel) {
  EXPECT_EQ(ParseModel(SequentialModel({4}, {DenseEntry(3, "softmax")}).dump(), nullptr)
                ->final_activation,
            Activation::kSoftmax);
  EXPECT_EQ(
      ParseModel(SequentialModel({4}, {DenseEntry(3, "relu")}).dump(), nullptr)->final_activation,
      Activation::kLinear);
  EXPECT_EQ(ParseModel(SequentialModel({4}, {DenseEntry(3, "softmax"),
                                             LayerEntry("Reshape", {{"target_shape", {3, 1}}})})
                           .dump(),
                       nullptr)
                ->final_activation,
            Activation::kLinear);
}

// Swaps, deletions and new values at a random place of a parsed document.
void Mutate(json* value, std::mt19937_64* random) {
  for (int depth = 0; depth < 40 && value->is_structured() && !value->empty(); ++depth) {
    auto at = value->begin();
    std::advance(at, (*random)() % value->size());
    if ((*random)() % 7 != 0 && at->is_structured() && !at->empty()) {
      value = &*at;
      continue;
    }
    static const std::vector<json> values = {nullptr,
                                             true,
                                             false,
                                             0,
                                             -1,
                                             1,
                                             3,
                                             1e300,
                                             -0.5,
                                             2147483647,
                                             int64_t{1} << 62,
                                             UINT64_MAX,
                                             "",
                                             "relu",
                                             "x",
                                             "Sequential",
                                             "InputLayer",
                                             "Conv2D",
                                             "FunctionalJson",
                                             "Add",
                                             json::array(),
                                             json::object(),
                                             {nullptr, 3},
                                             {{nullptr}},
                                             {1, 2, 3},
                                             {-1, 0},
                                             {{"class_name", "Dense"}},
                                             {{"class_name", "__keras_tensor__"}},
                                             {{"x", 0, 0}}};
    switch ((*random)() % 4) {
      case 0:
        *at = values[(*random)() % values.size()];
        return;
      case 1:
        value->erase(at);
        return;
      case 2: {
        auto other = value->begin();
        std::advance(other, (*random)() % value->size());
        const json copy = *other;
        *at = copy;
        return;
      }
      default:
        if (value->is_array()) {
          const json copy = *at;
          value->push_back(copy);
        } else {
          *at = json(at.key());
        }
        return;
    }
  }
}

void ParseQuietly(const std::string& text, int64_t* accepted) {
  const Shape data_shape = {8};
  std::vector<Problem> problems;
  const auto spec = ParseModel(text, &data_shape, &problems);
  ASSERT_EQ(spec == nullptr, !problems.empty());
  if (spec == nullptr) {
    for (const Problem& problem : problems) ASSERT_FALSE(problem.message.empty());
    return;
  }
  ++*accepted;
  ASSERT_FALSE(spec->nodes.empty());
  ASSERT_GE(spec->flops, 0);
  ASSERT_LT(spec->parameters, int64_t{1} << 31);
}

// Each number of some files in turn becomes extreme: sizes that multiply beyond 64 bits. One
// number becomes two of the six, the next one the next two.
TEST(Spec, ExtremeNumbersNeverOverflow) {
  int64_t accepted = 0;
  int64_t n = 0;
  size_t turn = 0;
  constexpr std::array<int64_t, 6> kExtremes = {int64_t{1} << 30, int64_t{1} << 20, 46341,
                                                2147483647,       INT64_MIN,        INT64_MAX};
  for (const auto& file : hopper_test::FixtureFiles()) {
    if (file.name != "keras-3.10.0.json") continue;
    for (const json& fixture : file.document["accepted"]) {
      const json& architecture = fixture["architecture"];
      const json leaves = architecture.flatten();
      for (const auto& [pointer, leaf] : leaves.items()) {
        if (!leaf.is_number() && !leaf.is_null()) continue;
        for (int i = 0; i < 2; ++i) {
          json changed = architecture;
          changed[json::json_pointer(pointer)] = kExtremes[turn++ % kExtremes.size()];
          ParseQuietly(changed.dump(), &accepted);
          ++n;
        }
      }
    }
  }
  EXPECT_GT(n, 2000);
}

TEST(Spec, MutatedFilesNeverCrash) {
  std::mt19937_64 random(20240501);
  int64_t accepted = 0;
  int64_t n = 0;
  for (const auto& file : hopper_test::FixtureFiles()) {
    for (const char* list : {"accepted", "refused"}) {
      for (const json& fixture : file.document[list]) {
        const json& architecture = fixture["architecture"];
        const std::string text = architecture.dump();
        for (int i = 0; i < ChanceCases(40); ++i) {
          json mutated = architecture;
          for (uint64_t k = random() % 3 + 1; k > 0; --k) Mutate(&mutated, &random);
          ParseQuietly(mutated.dump(), &accepted);
        }
        for (int i = 0; i < ChanceCases(10); ++i) {
          std::string flipped = text;
          for (uint64_t k = random() % 4 + 1; k > 0; --k) {
            flipped[random() % flipped.size()] ^= static_cast<char>(1u << (random() % 8));
          }
          ParseQuietly(flipped, &accepted);
          ParseQuietly(text.substr(0, random() % text.size()), &accepted);
        }
        n += ChanceCases(40) + 2 * ChanceCases(10);
      }
    }
  }
  EXPECT_GT(n, ChanceCases(10000));
  // Both ways happen often: the mutations are neither harmless nor all fatal.
  EXPECT_GT(accepted, n / 50);
  EXPECT_LT(accepted, n * 9 / 10);
}

}  // namespace
}  // namespace hopper
