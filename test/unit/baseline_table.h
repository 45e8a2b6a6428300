// Reads the tables that test/baseline/generate_keras_layers.py and others write: .safetensors files
// whose metadata lists the cases.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace hopper {

struct BaselineTensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

class BaselineTable {
 public:
  explicit BaselineTable(const std::string& file_name) {
    const std::string path = std::string(HOPPER_TEST_DIR) + "/baseline/" + file_name;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    uint64_t header_size = 0;
    std::memcpy(&header_size, bytes.data(), 8);
    const auto header = nlohmann::json::parse(bytes.substr(8, header_size));
    cases_ = nlohmann::json::parse(header["__metadata__"]["cases"].get<std::string>());
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      const size_t first = entry["data_offsets"][0];
      const size_t end = entry["data_offsets"][1];
      BaselineTensor& tensor = tensors_[name];
      tensor.shape = entry["shape"].get<std::vector<int64_t>>();
      tensor.values.resize((end - first) / sizeof(float));
      std::memcpy(tensor.values.data(), bytes.data() + 8 + header_size + first, end - first);
    }
  }

  // Each has a "name".
  const nlohmann::json& cases() const { return cases_; }

  const BaselineTensor& Get(const nlohmann::json& the_case, const std::string& what) const {
    return tensors_.at(the_case["name"].get<std::string>() + "/" + what);
  }
  const BaselineTensor& Get(const nlohmann::json& the_case, const std::string& what, int i) const {
    return Get(the_case, what + "/" + std::to_string(i));
  }
  // Length of a list of tensors.
  static int Count(const nlohmann::json& the_case, const std::string& what) {
    return the_case["n_" + what].get<int>();
  }

 private:
  nlohmann::json cases_;
  std::map<std::string, BaselineTensor> tensors_;
};

// max|a - b| / max|b|; infinite where a has a value that is not finite. A reference that is all
// zero is compared absolutely.
inline double RelativeDifference(const float* a, const std::vector<float>& b) {
  double difference = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < b.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!std::isfinite(d)) return INFINITY;
    difference = std::max(difference, d);
    size = std::max(size, std::abs(static_cast<double>(b[i])));
  }
  return size > 0.0 ? difference / size : difference;
}

// Names test cases: letters, digits and underscores of "name".
inline std::string CaseName(const nlohmann::json& the_case) {
  std::string name = the_case["name"].get<std::string>();
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

}  // namespace hopper
