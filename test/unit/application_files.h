// The architectures that generate_keras_application_files.py wrote, which the build unpacks.
#pragma once

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace hopper {

// Of the archive of one Keras, such as "keras-3.15.1".
class ApplicationFiles {
 public:
  explicit ApplicationFiles(const std::string& keras)
      : folder_(std::string(HOPPER_APPLICATIONS_DIR) + "/" + keras + "/"),
        index_(nlohmann::json::parse(Read("index.json"))) {}

  // Each has a "name", a "file" and what Keras says of it.
  const nlohmann::json& index() const { return index_; }

  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ + name, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + folder_ + name);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

 private:
  std::string folder_;
  nlohmann::json index_;
};

}  // namespace hopper
