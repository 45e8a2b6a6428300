// What the layer table says of each layer, against the sources of real Keras.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "model/tensor_operation.h"

namespace hopper {
namespace {

nlohmann::json KerasLayers() {
  std::ifstream file(HOPPER_TEST_DIR "/baseline/keras_versions.json");
  return nlohmann::json::parse(file);
}

TEST(LayerTable, SaysSinceWhenKerasHasALayerAndItsArguments) {
  const nlohmann::json keras = KerasLayers();
  // Classes of keras.applications.
  const std::set<std::string> elsewhere = {"CustomScaleLayer", "LayerScale"};
  // Of files of Keras 2 whose constructor takes them among others.
  const std::set<std::string> unnamed = {"unroll", "implementation"};
  for (const LayerType& type : LayerTable()) {
    SCOPED_TRACE(type.class_name);
    if (IsOperationOnly(type) || elsewhere.count(type.class_name) != 0) continue;
    if (std::string(type.since) == kOwnLayer) {
      EXPECT_FALSE(keras.contains(type.class_name));
      continue;
    }
    ASSERT_TRUE(keras.contains(type.class_name));
    const nlohmann::json& layer = keras[type.class_name];
    EXPECT_EQ(type.since, layer["since"].get<std::string>());
    for (const std::string& name : ArgumentsOf(type)) {
      const nlohmann::json& known = layer["arguments"];
      EXPECT_TRUE(std::find(known.begin(), known.end(), name) != known.end() ||
                  unnamed.count(name) != 0)
          << name;
    }
  }
}

TEST(LayerTable, KnowsAlsoTheOtherNameOfALayer) {
  const LayerType* type = FindLayerType("GroupQueryAttention");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(FindLayerType("GroupedQueryAttention"), type);
  EXPECT_EQ(FindLayerType(""), nullptr);
}

}  // namespace
}  // namespace hopper
