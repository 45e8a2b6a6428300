// The parser against what real versions of Keras say about architectures that they wrote.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "model/fixtures.h"
#include "model/keras/complete.h"
#include "model/spec.h"

namespace hopper {
namespace {

using nlohmann::json;

std::vector<int64_t> Numbers(const json& list) { return list.get<std::vector<int64_t>>(); }

void Compare(const ModelSpec& spec, const json& fixture) {
  const json& says = fixture["says"];
  ASSERT_EQ(spec.inputs.size(), says["inputs"].size());
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    EXPECT_EQ(spec.inputs[i].shape, Numbers(says["inputs"][i]));
  }
  ASSERT_EQ(spec.outputs.size(), says["outputs"].size());
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    EXPECT_EQ(spec.outputs[i].shape, Numbers(says["outputs"][i]));
  }
  EXPECT_EQ(spec.parameters, says["parameters"].get<int64_t>());
  EXPECT_EQ(spec.trainable_parameters, says["trainable"].get<int64_t>());

  ASSERT_EQ(spec.weights.size(), says["weights"].size());
  int64_t flat = 0;
  int64_t slots = 0;
  for (size_t i = 0; i < spec.weights.size(); ++i) {
    const WeightSpec& weight = spec.weights[i];
    EXPECT_EQ(weight.shape, Numbers(says["weights"][i]["shape"])) << weight.name;
    EXPECT_EQ(weight.trainable, says["weights"][i]["trainable"].get<bool>()) << weight.name;
    EXPECT_EQ(weight.offset, flat);
    EXPECT_EQ(weight.offset % 16, 0);
    flat += (weight.size() + 15) / 16 * 16;
    EXPECT_EQ(weight.slot_offset, weight.trainable ? slots : -1);
    if (weight.trainable) slots += (weight.size() + 15) / 16 * 16;
  }
  EXPECT_EQ(spec.flat_size, flat);
  EXPECT_EQ(spec.slot_size, slots);

  // Operations are layers here, and there are layers of our own.
  const json& layers = says["layers"];
  const std::set<std::string> more = {"operations", "regularized", "wide_and_deep"};
  const bool exact = more.count(fixture["name"].get<std::string>()) == 0;
  ASSERT_GE(spec.layers.size(), layers.size());
  if (exact) {
    ASSERT_EQ(spec.layers.size(), layers.size());
  }
  ASSERT_EQ(spec.layer_weights.size(), spec.layers.size());
  const std::set<std::string> operations = {"SlicingOpLambda", "TFOpLambda"};
  size_t next = 0;
  for (const json& layer : layers) {
    const auto name = layer["name"].get<std::string>();
    const auto class_name = layer["class_name"].get<std::string>();
    while (!exact && next < spec.layers.size() && spec.layers[next]->name() != name) ++next;
    ASSERT_LT(next, spec.layers.size()) << name;
    const size_t i = next++;
    EXPECT_EQ(spec.layers[i]->name(), name);
    if (operations.count(class_name) == 0) {
      EXPECT_EQ(spec.layers[i]->class_name(), class_name);
    }
    int64_t parameters = 0;
    for (int weight : spec.layer_weights[i]) {
      EXPECT_EQ(spec.weights[weight].layer, static_cast<int>(i));
      parameters += spec.weights[weight].size();
    }
    EXPECT_EQ(parameters, layer["parameters"].get<int64_t>()) << name;
    if (layer["output_shape"].is_null()) continue;
    for (const Node& node : spec.nodes) {
      if (node.layer != static_cast<int>(i)) continue;
      EXPECT_EQ(spec.tensors[node.output], Numbers(layer["output_shape"])) << name;
    }
  }
}

// Every tensor is made before it is read.
void CheckOrder(const ModelSpec& spec) {
  std::vector<bool> made(spec.tensors.size(), false);
  made[spec.input] = true;
  for (const Node& node : spec.nodes) {
    for (int input : node.inputs) EXPECT_TRUE(made[input]);
    EXPECT_FALSE(made[node.output]);
    made[node.output] = true;
  }
  EXPECT_TRUE(made[spec.output]);
}

TEST(KerasJson, AcceptedArchitecturesAgreeWithKeras) {
  std::map<std::string, int> families;
  for (const auto& file : hopper_test::FixtureFiles()) {
    for (const json& fixture : file.document["accepted"]) {
      SCOPED_TRACE(file.name + ": " + fixture["name"].get<std::string>());
      const Shape data_shape = {8};
      const bool unbuilt = fixture["name"] == "unbuilt";
      std::vector<Problem> problems;
      const auto spec =
          ParseModel(fixture["architecture"].dump(), unbuilt ? &data_shape : nullptr, &problems);
      for (const Problem& problem : problems) ADD_FAILURE() << problem.message;
      if (spec == nullptr) continue;
      Compare(*spec, fixture);
      CheckOrder(*spec);
      ++families[file.document["family"].get<std::string>()];
    }
  }
  ASSERT_EQ(families.size(), 7u) << "a fixture file of some family is missing";
  for (const auto& [family, n] : families) {
    RecordProperty("family_" + family, n);
    EXPECT_GE(n, family == "A" ? 2 : 27) << family;
  }
}

TEST(KerasJson, RefusedArchitecturesAreRefusedByName) {
  int n = 0;
  for (const auto& file : hopper_test::FixtureFiles()) {
    for (const json& fixture : file.document["refused"]) {
      SCOPED_TRACE(file.name + ": " + fixture["name"].get<std::string>());
      ++n;
      std::vector<Problem> problems;
      const auto spec = ParseModel(fixture["architecture"].dump(), nullptr, &problems);
      // What was refused when the files were written, and is not any more.
      if (fixture["name"] == "operation") {  // x ** 3.0
        EXPECT_EQ(spec == nullptr ? "" : spec->layers.back()->class_name(), "Power");
        continue;
      }
      if (fixture["name"] == "mixed_precision") {
        EXPECT_NE(spec, nullptr) << problems[0].message;
        const auto notes = NotesOn(fixture["architecture"].dump());
        ASSERT_EQ(notes.size(), 1u);
        EXPECT_EQ(notes[0].message, "dtype \"mixed_float16\" counts as \"float32\"");
        continue;
      }
      EXPECT_EQ(spec, nullptr);
      ASSERT_EQ(problems.size(), 1u);
      EXPECT_EQ(problems[0].code, ErrorCode::kNotSupported);
      EXPECT_NE(problems[0].message.find(fixture["message"].get<std::string>()), std::string::npos)
          << problems[0].message;
    }
  }
  EXPECT_GE(n, 36);
}

// The layers on the way from the output back to the input; at a sum, along input `branch`.
std::string Path(const ModelSpec& spec, size_t branch) {
  std::string path;
  for (int at = spec.output; at != spec.input;) {
    for (const Node& node : spec.nodes) {
      if (node.output != at) continue;
      path += spec.layers[node.layer]->name() + " ";
      at = node.inputs[std::min(branch, node.inputs.size() - 1)];
      break;
    }
  }
  return path;
}

// Node numbers of nested models count from 0 or 1 by version, class and place.
TEST(KerasJson, NestedModelsCalledTwiceAreWiredAsWritten) {
  const std::string f = "inner_functional/inner_functional_a ";
  const std::string s = "inner_sequential/inner_sequential_b inner_sequential/inner_sequential_a ";
  int n = 0;
  for (const auto& file : hopper_test::FixtureFiles()) {
    for (const json& fixture : file.document["accepted"]) {
      SCOPED_TRACE(file.name);
      const auto spec = fixture["name"] == "nested_twice" || fixture["name"] == "nested_end"
                            ? ParseModel(fixture["architecture"].dump(), nullptr)
                            : nullptr;
      if (spec == nullptr) continue;
      ++n;
      if (fixture["name"] == "nested_end") {
        EXPECT_EQ(Path(*spec, 0), f + f + "first ");
      } else {
        EXPECT_EQ(Path(*spec, 0), "end sum " + s + f);
        EXPECT_EQ(Path(*spec, 1), "end sum " + f + s + s + f);
      }
    }
  }
  EXPECT_GE(n, 16);
}

// One architecture has one hash, whatever version wrote it, but for what Keras itself writes
// differently (docs/reference/architectures.md).
TEST(KerasJson, HashDoesNotDependOnTheVersion) {
  for (const char* name :
       {"mlp", "cnn", "residual", "shared", "nested", "nested_twice", "nested_end", "nested_deep",
        "frozen", "initializers", "ids", "images", "merges"}) {
    std::map<std::string, std::string> hashes;
    for (const auto& file : hopper_test::FixtureFiles()) {
      for (const json& fixture : file.document["accepted"]) {
        if (fixture["name"] != name) continue;
        const auto spec = ParseModel(fixture["architecture"].dump(), nullptr);
        hashes[spec->hash.Hex()] += file.name + " ";
      }
    }
    EXPECT_EQ(hashes.size(), 1u) << name;
    for (const auto& [hash, files] : hashes) {
      if (hashes.size() > 1) ADD_FAILURE() << hash << ": " << files;
    }
  }
}

TEST(KerasJson, HardSigmoidFollowsTheVersion) {
  std::set<std::string> keras2;
  std::set<std::string> keras3;
  for (const auto& file : hopper_test::FixtureFiles()) {
    for (const json& fixture : file.document["accepted"]) {
      if (fixture["name"] != "activations") continue;
      const auto spec = ParseModel(fixture["architecture"].dump(), nullptr);
      const bool two = spec->family == KerasFamily::kKeras2;
      EXPECT_EQ(two, file.document["keras_version"].get<std::string>()[0] == '2');
      (two ? keras2 : keras3).insert(spec->hash.Hex());
    }
  }
  EXPECT_EQ(keras2.size(), 1u);
  EXPECT_EQ(keras3.size(), 1u);
  EXPECT_NE(keras2, keras3);
}

}  // namespace
}  // namespace hopper
