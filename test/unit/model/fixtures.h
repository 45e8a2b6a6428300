// The architectures under test/baseline/keras_json.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hopper_test {

struct FixtureFile {
  std::string name;
  nlohmann::json document;
};

inline const std::vector<FixtureFile>& FixtureFiles() {
  static const std::vector<FixtureFile> files = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(HOPPER_TEST_DIR "/baseline/keras_json")) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<FixtureFile> read;
    for (const auto& path : paths) {
      std::ifstream in(path);
      read.push_back({path.filename().string(), nlohmann::json::parse(in)});
    }
    return read;
  }();
  return files;
}

}  // namespace hopper_test
