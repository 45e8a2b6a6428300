#include "model/keras/json_text.h"

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
  const bool plain =
      class_name == "DTypePolicy" || class_name == "Policy" || class_name == "PolicyV1";
  *name = plain && !policy.empty() ? policy : class_name;
  return true;
}

bool IsMixedPolicy(const std::string& policy) {
  return policy == "mixed_float16" || policy == "mixed_bfloat16";
}

std::string DtypeHint(const std::string& name) {
  const auto says = [&name](const char* part) { return name.find(part) != std::string::npos; };
  if (says("int8") || says("int4") || says("float8") || says("uantize") || says("GPTQ") ||
      says("AWQ")) {
    return "Write the architecture before model.quantize(), and give the weights as float32.";
  }
  if (says("float16")) {
    return "Build the model with dtype float32: keras.config.set_dtype_policy(\"float32\"). "
           "Training in bfloat16 is asked for by dtype => 'bf16'.";
  }
  return "Build the model with dtype float32.";
}

}  // namespace hopper
