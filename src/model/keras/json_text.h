// Small things that readers of Keras' JSON share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hopper {

// The value as JSON text, cut to some forty bytes: for messages.
std::string ShortJson(const nlohmann::json& value);

// What to give as an architecture, with and without Python: the hint of errors about the whole
// text.
extern const char kArchitectureHint[];

// Seven significant digits, so that a number that went through float32 equals its origin.
std::string NumberText(double number);

// Whether the value is this string. The library's own == makes a value of the text where no
// exception may leave it, and ends the process where there is no memory.
bool IsText(const nlohmann::json& value, std::string_view text);

// The member's value where `object` is an object that has it as a string, else "".
std::string StringMember(const nlohmann::json& object, const char* key);

// The member, or null where `object` is no object or lacks it.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

// "float32", "mixed_float16": the name of a dtype or of a policy object of any version; false
// where the value is neither.
bool DtypeName(const nlohmann::json& dtype, std::string* name);
// Whether it is a policy whose weights are float32, and only computations something else.
bool IsMixedPolicy(const std::string& policy);
// What to do about a dtype of weights or of computations that is not float32: an action.
std::string DtypeHint(const std::string& name);

}  // namespace hopper
