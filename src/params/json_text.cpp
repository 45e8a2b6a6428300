#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "base/cancel.h"
#include "base/error.h"
#include "params/text.h"

namespace hopper {
namespace {

using Json = nlohmann::json;

// Builds the tree while the text is read: keys given twice are seen, and depth is bounded.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  bool null() override { return Add(Value::None()); }
  bool boolean(bool value) override { return Add(Value::Bool(value)); }
  bool number_integer(number_integer_t value) override { return Add(Value::Integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) {
      return Add(Value::Real(static_cast<double>(value)));
    }
    return Add(Value::Integer(static_cast<int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return Add(Value::Real(value));
  }
  bool string(string_t& value) override {
    if (value.find('\0') != string_t::npos) Fail("a string holds the character 0");
    return Add(Value::String(std::move(value)));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Value::Kind::kDict); }
  bool start_array(size_t) override { return Open(Value::Kind::kList); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) Fail("key " + RenderString(name) + " stands twice");
    open_.back().entries.push_back({Value::String(std::move(name)), Value::None()});
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The library counts the bytes it has read, the offending one included.
    const size_t at = position == 0 ? 0 : position - 1;
    std::string reason = error.what();
    const size_t colon = reason.rfind(": ");
    if (colon != std::string::npos) reason = reason.substr(colon + 2);
    throw Error(ErrorCode::kInvalidText, what_ + " is not valid JSON: " + reason,
                DescribePosition(text_, at), "");
  }

  Value Take() { return std::move(root_); }

 private:
  [[noreturn]] void Fail(const std::string& problem) {
    throw Error(ErrorCode::kInvalidText, what_ + " cannot be parsed: " + problem);
  }
  bool Open(Value::Kind kind) {
    if (open_.size() > kMaxValueDepth) {
      Fail("values are nested more than " + std::to_string(kMaxValueDepth) + " deep");
    }
    Value value;
    value.kind = kind;
    open_.push_back(std::move(value));
    names_.emplace_back();
    return true;
  }
  bool Close() {
    Value value = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return Add(std::move(value));
  }
  bool Add(Value value) {
    LookAtCancel();
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().kind == Value::Kind::kDict) {
      open_.back().entries.back().value = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const std::string& what_;
  std::vector<Value> open_;
  std::vector<std::unordered_set<std::string>> names_;  // of the keys of open_
  Value root_;
};

Value ParseBraces(std::string_view text, const std::string& what) {
  RequireTextSize(text, what);
  // The test costs a second reading, but only of short texts.
  if (Json::accept(text.begin(), text.end())) return ParseJson(text, what);
  return ParsePythonValue(text, what);
}

bool BeginsWithBrace(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsBlank(text.substr(i, 1))) return text[i] == '{';
  }
  return false;
}

}  // namespace

Value ParseJson(std::string_view text, const std::string& what) {
  RequireTextSize(text, what);
  Builder builder(text, what);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    throw Error(ErrorCode::kInvalidText, what + " is not valid JSON");
  }
  return builder.Take();
}

std::vector<ValueEntry> ParseArguments(std::string_view text, const std::string& what) {
  if (!BeginsWithBrace(text)) return ParsePythonArguments(text, what);
  Value dict = ParseDictionary(text, what);
  return std::move(dict.entries);
}

Value ParseDictionary(std::string_view text, const std::string& what) {
  if (!BeginsWithBrace(text)) {
    throw Error(ErrorCode::kInvalidText, what + " cannot be parsed: it is not a dictionary",
                DescribePosition(text, 0),
                "Write a dictionary of lists, for example {'batch_size': [32, 64]}.");
  }
  Value dict = ParseBraces(text, what);
  for (const ValueEntry& entry : dict.entries) {
    if (!entry.key.IsText()) {
      throw Error(ErrorCode::kInvalidText,
                  what + " cannot be parsed: key " + Render(entry.key) + " is not a string");
    }
  }
  return dict;
}

}  // namespace hopper
