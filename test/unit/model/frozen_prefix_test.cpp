// Where a model is cut whose first layers are frozen.
#include "model/graph/frozen_prefix.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/keras_models.h"

namespace hopper {
namespace {

constexpr const char* kFrozen = "\"trainable\": false";

std::string Input(int64_t values) {
  return KerasLayer("InputLayer", "input",
                    "\"batch_input_shape\": [null, " + std::to_string(values) + "]");
}

std::string Frozen(const std::string& name, int units = 16) {
  return KerasDense(name, units, "relu", kFrozen);
}

FrozenSplit SplitOf(const std::string& json) { return SplitFrozen(*ParseModel(json, nullptr)); }

// The layers of the prefix, in order; empty: there is none.
std::string PrefixOf(const std::vector<std::string>& layers) {
  std::vector<std::string> all = {Input(20)};
  all.insert(all.end(), layers.begin(), layers.end());
  all.push_back(KerasDense("last", 3, "softmax"));
  const FrozenSplit split = SplitOf(KerasSequential(all));
  std::string names;
  if (split.prefix == nullptr) return names;
  for (const Node& node : split.prefix->nodes) {
    names += (names.empty() ? "" : " ") + split.prefix->layers[node.layer]->name();
  }
  return names;
}

TEST(FrozenPrefix, EndsBeforeWhatTrainsOrIsRandom) {
  const std::string drop = KerasLayer("Dropout", "drop", "\"rate\": 0.5");
  EXPECT_EQ(PrefixOf({Frozen("a"), Frozen("b")}), "a b");
  EXPECT_EQ(PrefixOf({Frozen("a"), KerasDense("b", 8, "relu"), Frozen("c")}), "a");
  EXPECT_EQ(PrefixOf({Frozen("a"), drop, Frozen("b")}), "a");
  EXPECT_EQ(PrefixOf({Frozen("a"), KerasLayer("Dropout", "drop", "\"rate\": 0.0"), Frozen("b")}),
            "a drop b");
  EXPECT_EQ(PrefixOf({Frozen("a"), KerasLayer("BatchNormalization", "norm", kFrozen)}), "a norm");
  EXPECT_EQ(PrefixOf({Frozen("a"), KerasLayer("BatchNormalization", "norm",
                                              R"("scale": false, "center": false)")}),
            "a");
  // What adds to the loss does so in each step.
  EXPECT_EQ(PrefixOf({Frozen("a"), KerasLayer("ActivityRegularization", "penalty", "\"l2\": 0.1"),
                      Frozen("b")}),
            "a");
  EXPECT_EQ(PrefixOf({Frozen("a"), KerasLayer("GaussianNoise", "noise", "\"stddev\": 0.1")}), "a");
}

TEST(FrozenPrefix, IsWorthKeeping) {
  EXPECT_EQ(PrefixOf({}), "");
  // Nothing frozen has weights.
  EXPECT_EQ(PrefixOf({KerasLayer("Rescaling", "scale", "\"scale\": 0.5"),
                      KerasLayer("Activation", "activation", R"("activation": "tanh")")}),
            "");
  EXPECT_EQ(PrefixOf({KerasLayer("BatchNormalization", "norm", kFrozen)}), "");
  // What it gives is much larger than what it takes.
  EXPECT_EQ(PrefixOf({Frozen("a", 20000)}), "");
  EXPECT_EQ(PrefixOf({Frozen("a"), Frozen("b", 20000)}), "a");
  // Nothing would be left to train.
  const FrozenSplit all = SplitOf(KerasSequential({Input(20), Frozen("a"), Frozen("b")}));
  EXPECT_EQ(all.prefix, nullptr);
}

std::string NodeJson(const std::string& class_name, const std::string& name,
                     const std::string& attributes, const std::vector<std::string>& inputs) {
  std::string from;
  for (const std::string& input : inputs) {
    from += (from.empty() ? "[\"" : ", [\"") + input + "\", 0, 0, {}]";
  }
  return R"({"class_name": ")" + class_name + R"(", "name": ")" + name +
         R"(", "config": {"name": ")" + name + "\"" +
         (attributes.empty() ? "" : ", " + attributes) + R"(}, "inbound_nodes": [)" +
         (inputs.empty() ? "" : "[" + from + "]") + "]}";
}

std::string DenseNode(const std::string& name, bool trains, const std::string& input) {
  return NodeJson("Dense", name,
                  std::string(R"("units": 20, "activation": "relu", "trainable": )") +
                      (trains ? "true" : "false"),
                  {input});
}

std::string Graph(const std::vector<std::string>& layers, const std::string& output) {
  std::string text = R"({"class_name": "Functional", "config": {"name": "graph", "layers": [)" +
                     NodeJson("InputLayer", "input", R"("batch_input_shape": [null, 20])", {});
  for (const std::string& layer : layers) text += ", " + layer;
  return text + R"(], "input_layers": [["input", 0, 0]], "output_layers": [[")" + output +
         R"(", 0, 0]]}, "keras_version": "2.10.0", "backend": "tensorflow"})";
}

TEST(FrozenPrefix, HasOneTensorThatOthersRead) {
  // A shortcut past a layer that trains ends at the layer before it.
  const FrozenSplit past = SplitOf(
      Graph({DenseNode("a", false, "input"), DenseNode("b", false, "a"), DenseNode("c", true, "b"),
             NodeJson("Add", "add", "", {"a", "c"}), DenseNode("last", true, "add")},
            "last"));
  ASSERT_NE(past.prefix, nullptr);
  EXPECT_EQ(past.prefix->nodes.size(), 1U);
  EXPECT_EQ(past.head->nodes.size(), 4U);
  // One that joins before it does not.
  const FrozenSplit joined =
      SplitOf(Graph({DenseNode("a", false, "input"), DenseNode("b", false, "a"),
                     NodeJson("Add", "add", "", {"a", "b"}), DenseNode("c", true, "add")},
                    "c"));
  ASSERT_NE(joined.prefix, nullptr);
  EXPECT_EQ(joined.prefix->nodes.size(), 3U);
  // The input itself is read by what trains.
  const FrozenSplit input =
      SplitOf(Graph({DenseNode("a", false, "input"), DenseNode("b", true, "a"),
                     NodeJson("Add", "add", "", {"b", "input"}), DenseNode("c", true, "add")},
                    "c"));
  EXPECT_EQ(input.prefix, nullptr);
}

TEST(FrozenPrefix, PartsKeepTheWholesWeights) {
  const auto spec = ParseModel(KerasSequential({Input(20), Frozen("a"), KerasDense("b", 8, "relu"),
                                                KerasDense("c", 3, "softmax")}),
                               nullptr);
  const FrozenSplit split = SplitFrozen(*spec);
  ASSERT_NE(split.prefix, nullptr);
  for (const ModelSpec* part : {split.prefix.get(), split.head.get()}) {
    EXPECT_EQ(part->flat_size, spec->flat_size);
    EXPECT_EQ(part->weights.size(), spec->weights.size());
  }
  EXPECT_EQ(split.prefix->output_shape(), Shape({16}));
  EXPECT_EQ(split.head->input_shape(), Shape({16}));
  EXPECT_EQ(split.head->output_shape(), spec->output_shape());
  EXPECT_EQ(split.prefix->flops + split.head->flops, spec->flops);
}

TEST(FrozenPrefix, HasTheSameHashInFrontOfAnyHead) {
  const auto hash = [](const std::vector<std::string>& layers) {
    std::vector<std::string> all = {Input(20)};
    all.insert(all.end(), layers.begin(), layers.end());
    return SplitOf(KerasSequential(all)).prefix->hash;
  };
  const std::string last = KerasDense("last", 3, "softmax");
  const Digest one = hash({Frozen("a"), last});
  EXPECT_EQ(one, hash({Frozen("other"), KerasDense("more", 8, "relu"), last}));
  EXPECT_NE(one, hash({Frozen("a", 17), last}));
  EXPECT_NE(one, hash({KerasDense("a", 16, "tanh", kFrozen), last}));
}

}  // namespace
}  // namespace hopper
