// Short architectures for tests, in the form of Keras 3.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hopper_test {

using nlohmann::json;

inline json LayerEntry(const std::string& class_name, json config) {
  static int n = 0;
  if (!config.contains("name")) config["name"] = class_name + "_" + std::to_string(n++);
  return {{"module", "keras.layers"},
          {"class_name", class_name},
          {"config", config},
          {"registered_name", nullptr}};
}

inline json DenseEntry(int units, const std::string& activation = "linear") {
  return LayerEntry("Dense", {{"units", units}, {"activation", activation}});
}

// `input` without the batch.
inline json SequentialModel(const std::vector<int>& input, const std::vector<json>& layers) {
  json batch_shape = json::array({nullptr});
  for (int size : input) batch_shape.push_back(size);
  json all = json::array({LayerEntry("InputLayer", {{"batch_shape", batch_shape}})});
  for (const json& layer : layers) all.push_back(layer);
  return {{"module", "keras"},
          {"class_name", "Sequential"},
          {"config", {{"name", "sequential"}, {"layers", all}}},
          {"keras_version", "3.10.0"}};
}

inline json Initializer(const std::string& class_name, json config = json::object()) {
  return {{"module", "keras.initializers"}, {"class_name", class_name}, {"config", config}};
}

}  // namespace hopper_test
