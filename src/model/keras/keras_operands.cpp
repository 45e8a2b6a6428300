#include "model/keras/keras_operands.h"

#include <nlohmann/json.hpp>

#include "model/keras/json_text.h"

namespace hopper {

using nlohmann::json;

namespace {

bool IsNumber(const json& value) { return value.is_number() || value.is_boolean(); }

double NumberOf(const json& value) {
  return value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
}

// A number, or lists of lists of numbers.
bool IsArray(const json& value) {
  const json* inner = &value;
  while (inner->is_array() && !inner->empty()) inner = &(*inner)[0];
  return IsNumber(*inner);
}

// Appends the values of an array whose axes from `axis` on have these sizes; false for others.
bool TakeValues(const json& value, const Shape& shape, size_t axis, std::vector<double>* values) {
  if (axis == shape.size()) {
    if (!IsNumber(value)) return false;
    values->push_back(NumberOf(value));
    return true;
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[axis]) return false;
  for (const json& item : value) {
    if (!TakeValues(item, shape, axis + 1, values)) return false;
  }
  return true;
}

}  // namespace

const json* CallOf(const json& entry) {
  const json& nodes = Member(entry, "inbound_nodes");
  return nodes.is_array() && nodes.size() == 1 ? &nodes[0] : nullptr;
}

json* ArgumentsOfCall(json* entry) {
  if (CallOf(*entry) == nullptr) return nullptr;
  json* triple = &(*entry)["inbound_nodes"][0];
  while (triple->is_array() && !triple->empty() && (*triple)[0].is_array()) triple = &(*triple)[0];
  const bool some = triple->is_array() && triple->size() == 4 && (*triple)[3].is_object();
  return some ? &(*triple)[3] : nullptr;
}

bool Operands::Read(const json& entry) {
  const json* call = CallOf(entry);
  if (call == nullptr) return false;
  if (!call->is_object()) return Add(*call);
  const json& kwargs = Member(*call, "kwargs");
  for (const json& value : Member(*call, "args")) {
    if (!Add(value)) return false;
  }
  if (!kwargs.is_object()) return true;
  for (const json& value : kwargs) {
    if (!value.is_null() && !Add(value)) return false;
  }
  return true;
}

bool Operands::Add(const json& value) {
  if (value.is_number()) return AddConstant(value);
  const std::string class_name = StringMember(value, "class_name");
  if (class_name == "__keras_tensor__") {
    ++tensors;
    return true;
  }
  if (class_name == "__numpy__" || class_name == "__tensor__") {
    return AddConstant(Member(Member(value, "config"), "value"));
  }
  if (!value.is_array() || value.empty()) return false;
  if (value[0].is_string()) return AddTriple(value);
  if (IsArray(value)) return AddConstant(value);
  for (const json& item : value) {
    if (!Add(item)) return false;
  }
  return true;
}

bool Operands::AddConstant(const json& value) {
  if (!IsArray(value)) return false;
  ConstantOperand constant;
  constant.place = count();
  for (const json* inner = &value; inner->is_array(); inner = &(*inner)[0]) {
    constant.shape.push_back(static_cast<int64_t>(inner->size()));
  }
  if (!TakeValues(value, constant.shape, 0, &constant.values)) return false;
  constants.push_back(std::move(constant));
  return true;
}

// ["conv", 0, 0, {"y": ...}] or ["_CONSTANT_VALUE", -1, 3.0, {"y": ...}]
bool Operands::AddTriple(const json& triple) {
  if (triple.size() < 3) return false;
  if (IsText(triple[0], "_CONSTANT_VALUE")) {
    if (!AddConstant(triple[2])) return false;
  } else {
    ++tensors;
  }
  if (triple.size() == 3) return true;
  for (const char* name : {"b", "x", "y"}) {  // b is matmul's; x is where's
    const json& other = Member(triple[3], name);
    if (!other.is_null() && !Add(other)) return false;
  }
  return true;
}

}  // namespace hopper
