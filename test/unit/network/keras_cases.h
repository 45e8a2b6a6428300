// The layers of test/baseline/keras_layers*.safetensors: a test for each, with a network that has
// Keras' weights.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "baseline_table.h"
#include "model/network/network.h"
#include "model/weights/storage.h"

namespace hopper {

constexpr double kTolerance = 1e-5;

// By the names of their files.
inline const std::map<std::string, BaselineTable>& Tables() {
  static const auto* tables = [] {
    auto* all = new std::map<std::string, BaselineTable>;
    const std::filesystem::path folder = std::string(HOPPER_TEST_DIR) + "/baseline";
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = file.path().filename();
      if (name.rfind("keras_layers", 0) == 0) all->emplace(name, name);
    }
    return all;
  }();
  return *tables;
}

// A case, printed by its name.
struct Case {
  nlohmann::json json;
  const BaselineTable* table;
};

inline void PrintTo(const Case& the_case, std::ostream* out) { *out << the_case.json["name"]; }

inline std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto& [file, table] : Tables()) {
    for (const nlohmann::json& json : table.cases()) cases.push_back({json, &table});
  }
  return cases;
}

class KerasCase : public testing::TestWithParam<Case> {
 protected:
  KerasCase()
      : spec_(ParseModel(GetParam().json["architecture"].get<std::string>(), nullptr)),
        network_(spec_),
        flat_(spec_->flat_size) {
    TakeKerasWeights();
  }

  static const BaselineTensor& Expected(const std::string& what) {
    return GetParam().table->Get(GetParam().json, what);
  }
  static const BaselineTensor& Expected(const std::string& what, int i) {
    return GetParam().table->Get(GetParam().json, what, i);
  }
  // What layers add to the loss.
  static double Penalty() {
    const nlohmann::json& json = GetParam().json;
    return json.contains("penalty") ? json["penalty"].get<double>() : 0.0;
  }
  static int Count(const std::string& what) { return BaselineTable::Count(GetParam().json, what); }

  void TakeKerasWeights() {
    std::vector<float> keras;
    for (int i = 0; i < Count("weights"); ++i) {
      const std::vector<float>& one = Expected("weights", i).values;
      keras.insert(keras.end(), one.begin(), one.end());
    }
    CheckWeightCount(*spec_, static_cast<int64_t>(keras.size()));
    ImportWeights(*spec_, keras.data(), flat_.data());
  }

  // Weights that a step changes without gradients: moving statistics.
  void ExpectWeightsAfter() const {
    std::vector<float> after(spec_->parameters);
    ExportWeights(*spec_, flat_.data(), after.data());
    size_t offset = 0;
    for (int i = 0; i < Count("weights_after"); ++i) {
      const std::vector<float>& expected = Expected("weights_after", i).values;
      EXPECT_LE(RelativeDifference(after.data() + offset, expected), kTolerance)
          << spec_->weights[i].name << " after the step";
      offset += expected.size();
    }
  }

  std::shared_ptr<const ModelSpec> spec_;
  Network network_;
  AlignedArray<float> flat_;
};

}  // namespace hopper
