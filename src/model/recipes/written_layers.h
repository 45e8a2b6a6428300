// The layers of a network that is written as Keras' JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "params/json_writer.h"

namespace hopper {

class WrittenLayers {
 public:
  // Without `functional` each layer reads the one before it, and does not say so.
  explicit WrittenLayers(bool functional) : functional_(functional) {}

  // `config` without the name, which is returned.
  std::string Add(const std::string& class_name, const std::string& name,
                  const std::vector<std::string>& inputs, JsonObjectText config = {});
  // The network; a functional one of this name begins with the layer "input".
  JsonObjectText Model(const std::string& name, const std::vector<std::string>& outputs) const;

 private:
  bool functional_;
  std::vector<std::string> layers_;
};

// [3,1]
std::string WholeNumbers(const std::vector<int64_t>& numbers);

}  // namespace hopper
