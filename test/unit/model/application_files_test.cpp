// Every model of keras.applications as real Keras writes it.
#include "application_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/spec.h"

namespace hopper {
namespace {

using nlohmann::json;

// Of each Keras whose files are there, a name such as "keras-3.15.1".
std::vector<std::string> Archives() {
  std::vector<std::string> names;
  for (const auto& folder : std::filesystem::directory_iterator(HOPPER_APPLICATIONS_DIR)) {
    names.push_back(folder.path().filename());
  }
  return names;
}

class KerasApplications : public testing::TestWithParam<std::string> {};

// With as many parameters as Keras says, in all, trainable, and layer by layer.
TEST_P(KerasApplications, Load) {
  const ApplicationFiles files(GetParam());
  std::set<std::string> names;
  for (const json& model : files.index()) {
    SCOPED_TRACE(model["file"].get<std::string>());
    names.insert(model["name"].get<std::string>());
    std::vector<Problem> problems;
    const Shape image = {224, 224, 3};  // for those that take images of any size
    const std::string text = files.Read(model["file"]);
    auto spec = ParseModel(text, nullptr, &problems);
    if (spec == nullptr && problems.size() == 1 && problems[0].code == ErrorCode::kNotReady) {
      problems.clear();
      spec = ParseModel(text, &image, &problems);
    }
    for (const Problem& problem : problems) ADD_FAILURE() << problem.message << problem.detail;
    if (spec == nullptr) continue;
    EXPECT_EQ(spec->parameters, model["parameters"].get<int64_t>());
    EXPECT_EQ(spec->trainable_parameters, model["trainable"].get<int64_t>());
    std::map<std::string, int64_t> expected;
    for (const json& layer : model["layers"]) expected[layer[0]] = layer[1];
    std::map<std::string, int64_t> of_layers;
    for (const WeightSpec& weight : spec->weights) {
      const std::string& layer = spec->layers[static_cast<size_t>(weight.layer)]->name();
      // Nested models by their own name, which no other slash ends.
      const bool nested = expected.count(layer) == 0;
      of_layers[nested ? layer.substr(0, layer.find('/')) : layer] += weight.size();
    }
    EXPECT_EQ(of_layers, expected);
  }
  // All that there are in this Keras; none is refused.
  EXPECT_EQ(names.size(), GetParam() == "keras-3.15.1" ? 40U : 71U);
}

INSTANTIATE_TEST_SUITE_P(All, KerasApplications, testing::ValuesIn(Archives()),
                         [](const auto& info) {
                           return info.param[0] == 'k' ? "Keras3" : "Keras2";
                         });

}  // namespace
}  // namespace hopper
