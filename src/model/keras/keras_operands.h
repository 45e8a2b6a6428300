// What an operation of a file is called with: tensors, numbers and arrays in their order. Internal
// to model/.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model/shape.h"

namespace hopper {

// A number or an array among the tensors.
struct ConstantOperand {
  size_t place = 0;  // among all operands
  Shape shape;       // NumPy's; of a number without axes
  std::vector<double> values;
};

struct Operands {
  int tensors = 0;
  std::vector<ConstantOperand> constants;

  // Of an entry's only call; false where it cannot be one, or where something else is among them.
  bool Read(const nlohmann::json& entry);
  // All of them.
  size_t count() const { return static_cast<size_t>(tensors) + constants.size(); }

 private:
  bool Add(const nlohmann::json& value);
  bool AddConstant(const nlohmann::json& value);
  bool AddTriple(const nlohmann::json& triple);
};

// The only call of an operation. Null where it cannot be one.
const nlohmann::json* CallOf(const nlohmann::json& entry);

// What tf.keras writes beside the first tensor: {"axis": 1} of ["conv", 0, 0, {"axis": 1}]. Null
// where there is nothing.
nlohmann::json* ArgumentsOfCall(nlohmann::json* entry);

}  // namespace hopper
