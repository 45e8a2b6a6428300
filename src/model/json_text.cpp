#include "model/json_text.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace hopper {

using nlohmann::json;

std::string ShortJson(const json& value) {
  constexpr size_t kMax = 40;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= kMax) return text;
  size_t end = kMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string NumberText(double number) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.7g", number);
  return text;
}

const json& Member(const json& object, const char* key) {
  static const json null;
  if (!object.is_object()) return null;
  const auto at = object.find(key);
  return at == object.end() ? null : *at;
}

bool IsText(const json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

std::string StringMember(const json& object, const char* key) {
  const json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool DtypeName(const json& dtype, std::string* name) {
  if (dtype.is_string()) {
    *name = dtype.get<std::string>();
    return true;
  }
  const std::string class_name = StringMember(dtype, "class_name");
  if (class_name.empty()) return false;
  const std::string policy = StringMember(Member(dtype, "config"), "name");
  const bool plain = class_name == "DTypePolicy" || class_name == "Policy";
  *name = plain && !policy.empty() ? policy : class_name;
  return true;
}

}  // namespace hopper
