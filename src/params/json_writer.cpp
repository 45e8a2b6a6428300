#include "params/json_writer.h"

#include <nlohmann/json.hpp>

namespace hopper {

std::string JsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonNumber(double number) { return nlohmann::json(number).dump(); }

JsonObjectText& JsonObjectText::Add(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += JsonString(name);
  members_ += ':';
  members_ += value;
  return *this;
}

std::string JsonList(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    if (!list.empty()) list += ',';
    list += value;
  }
  return "[" + list + "]";
}

std::string JsonStrings(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) values.push_back(JsonString(text));
  return JsonList(values);
}

std::string JsonNumbers(const std::vector<double>& numbers) {
  std::vector<std::string> values;
  values.reserve(numbers.size());
  for (double number : numbers) values.push_back(JsonNumber(number));
  return JsonList(values);
}

}  // namespace hopper
