// libhopper_core.so as the glue sees it: loaded at run time, reached through one symbol.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model_hopper/core.h"

namespace hopper {

using Json = nlohmann::json;
using Table = std::vector<std::vector<std::string>>;

inline hopper_core_api_get_fn Getter() {
  static void* library = dlopen(HOPPER_CORE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return reinterpret_cast<hopper_core_api_get_fn>(dlsym(library, "hopper_core_api_get"));
}

inline const hopper_core_api& Api() { return *Getter()(HOPPER_API_VERSION); }

// Copies the cells and frees the rows; NULL reads "NULL".
inline Table Take(hopper_rows* rows) {
  Table table;
  for (int32_t r = 0; r < rows->n_rows; ++r) {
    table.emplace_back();
    for (int32_t c = 0; c < rows->n_columns; ++c) {
      const char* cell = rows->cells[static_cast<size_t>(r) * rows->n_columns + c];
      table.back().push_back(cell == nullptr ? "NULL" : cell);
    }
  }
  Api().rows_free(rows);
  return table;
}

inline std::string Show(const hopper_error& e) {
  return std::to_string(e.code) + " " + e.message + " | " + e.detail + " | " + e.hint;
}

// What real Keras wrote, with what it says of each model.
inline Json KerasModels() {
  std::ifstream file(std::string(HOPPER_TEST_DIR) + "/baseline/keras_json/keras-3.10.0.json");
  return Json::parse(file).at("accepted");
}

inline std::string Architecture(const std::string& name) {
  for (const Json& model : KerasModels()) {
    if (model.at("name") == name) return model.at("architecture").dump();
  }
  ADD_FAILURE() << "no model " << name;
  return "";
}

}  // namespace hopper
