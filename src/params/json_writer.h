// JSON that is written as text, value by value. No nlohmann::json with others in it: its destructor
// takes memory, and ends the process where there is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hopper {

// A text in quotes. Bytes that are no UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);
// The shortest text that is read as that number; "null" where it is not finite.
std::string JsonNumber(double number);

// {"name":value,...}, in the order of Add().
class JsonObjectText {
 public:
  // `value` is JSON.
  JsonObjectText& Add(std::string_view name, std::string_view value);
  std::string Text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

// [value,...] of what is JSON already, of texts, and of numbers.
std::string JsonList(const std::vector<std::string>& values);
std::string JsonStrings(const std::vector<std::string>& texts);
std::string JsonNumbers(const std::vector<double>& numbers);

}  // namespace hopper
