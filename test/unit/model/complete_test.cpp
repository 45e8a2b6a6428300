// Architectures by hand as load_model() stores them: the same to us, and readable for Keras.
#include "model/keras/complete.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/architectures.h"
#include "model/spec.h"

namespace hopper {
namespace {

using nlohmann::json;

// What real Keras says of completed texts: test/baseline/generate_keras_completed.py.
json Table() {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_completed.json");
  return json::parse(file);
}

TEST(Complete, IsReadByKerasAndTheSameToUs) {
  const json table = Table();
  ASSERT_GE(table["models"].size(), 5u);
  for (const json& model : table["models"]) {
    const std::string name = model["name"].get<std::string>();
    const std::string written = model["written"].get<std::string>();
    const auto completed = CompleteModel(written);
    ASSERT_TRUE(completed) << name;
    EXPECT_EQ(*completed, model["completed"].get<std::string>()) << name;
    const Shape shape = model["shape"].get<Shape>();
    const auto before = ParseModel(written, &shape);
    const auto after = ParseModel(*completed, &shape);
    EXPECT_EQ(before->hash, after->hash) << name;
    EXPECT_EQ(before->family, after->family) << name;
    EXPECT_EQ(before->name, after->name) << name;
    for (size_t i = 0; i < before->layers.size(); ++i) {
      EXPECT_EQ(before->layers[i]->name(), after->layers[i]->name()) << name;
    }
    const json& says = model["says"];
    EXPECT_EQ(after->input_shape(), says["input_shape"].get<Shape>()) << name;
    EXPECT_EQ(after->output_shape(), says["output_shape"].get<Shape>()) << name;
    EXPECT_EQ(after->parameters, says["parameters"].get<int64_t>()) << name;
    ASSERT_EQ(after->weights.size(), says["weights"].size()) << name;
    for (size_t i = 0; i < after->weights.size(); ++i) {
      EXPECT_EQ(after->weights[i].shape, says["weights"][i].get<Shape>()) << name;
    }
    // Completing is done once.
    EXPECT_FALSE(CompleteModel(*completed)) << name;
  }
}

TEST(Complete, WhatIsEncodedTwiceIsStoredOnce) {
  const std::string text =
      R"({"class_name":"Sequential","config":{"layers":[]},"keras_version":"2.4.0"})";
  EXPECT_EQ(CompleteModel(" " + json(text).dump()), text);
}

TEST(Complete, NotesOnWhatIsReadAsSomethingElse) {
  const std::string mixed =
      R"({"class_name": "Dense", "config": {"name": "d", "units": 2, "dtype": "mixed_float16"}})";
  const std::string cudnn = R"({"class_name": "CuDNNGRU", "config": {"name": "g", "units": 2}})";
  const auto model = [](const std::string& layers) {
    return R"({"class_name": "Sequential", "config": {"layers": [)" + layers + "]}}";
  };
  EXPECT_TRUE(NotesOn(model(R"({"class_name": "Dense", "config": {"units": 2}})")).empty());
  EXPECT_TRUE(NotesOn("[]").empty());
  const auto notes = NotesOn(model(cudnn + ", " + cudnn + ", " + mixed + ", " + mixed));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].message, "dtype \"mixed_float16\" counts as \"float32\"");
  EXPECT_EQ(notes[1].message,
            "layer \"g\" of class CuDNNLSTM or CuDNNGRU counts as LSTM or "
            "GRU(reset_after=True), and so do others");
}

TEST(Complete, WhatKerasWroteStays) {
  const std::string layer = R"({"class_name": "Dense", "config": {"units": 2}})";
  EXPECT_FALSE(CompleteModel(R"({"class_name": "Sequential", "keras_version": "2.4.0",
                                 "config": {"layers": [)" +
                             layer + "]}}"));
  EXPECT_FALSE(CompleteModel(R"({"class_name": "Sequential", "module": "keras",
                                 "config": {"layers": [)" +
                             layer + "]}}"));
  EXPECT_FALSE(CompleteModel(R"({"class_name": "Sequential", "config": [)" + layer + "]}"));
  EXPECT_FALSE(CompleteModel(R"({"class_name": "Functional", "config": {"layers": []}})"));
  EXPECT_FALSE(CompleteModel("no JSON"));
  // Nor does anything happen to texts that are no model.
  for (
      const char* text :
      {R"({"class_name": "Sequential", "config": {}})",
       R"({"class_name": "Sequential", "config": {"layers": [1, null, {}, {"class_name": 3}]}})",
       R"({"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": 3}]}})"}) {
    EXPECT_TRUE(CompleteModel(text)) << text;
  }
}

}  // namespace
}  // namespace hopper
