// From text to JSON, with messages that say where it is broken.

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "model/json_text.h"
#include "model/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr int kMaxDepth = 256;

const char kHint[] = "Use the output of model.to_json().";

// The bytes around `position` that can be shown: whole, printable characters.
std::string Around(std::string_view text, size_t position) {
  const size_t begin = position > 10 ? position - 10 : 0;
  std::string shown;
  for (size_t i = begin; i < text.size() && i < begin + 20; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) {
      shown += static_cast<char>(byte);
    } else if (byte < 0x80 || byte >= 0xC0) {
      shown += byte < 0x80 ? ' ' : '?';  // a character of several bytes shows as one "?"
    }
  }
  return shown;
}

Problem SyntaxProblem(std::string_view text, size_t byte) {
  const size_t position = byte == 0 ? 0 : std::min(byte - 1, text.size());
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < position; ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  std::string detail;
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); })) {
    detail = "The text is empty.";
  } else if (position >= text.size()) {
    detail = "The text ends too early, after \"" + Around(text, text.size()) + "\".";
  } else {
    detail = "The error is at position " + std::to_string(position + 1) + " (line " +
             std::to_string(line) + ", column " + std::to_string(column) + "), near \"" +
             Around(text, position) + "\".";
  }
  return {ErrorCode::kInvalidText, "model architecture is not valid JSON", detail, kHint};
}

// True where brackets nest deeper than kMaxDepth. The parser's own callback is not used for it: it
// would look through a whole list again at the end of each of its entries.
bool IsTooDeep(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
        break;
      case '[':
      case '{':
        if (++depth > kMaxDepth) return true;
        break;
      case ']':
      case '}':
        --depth;
        break;
      default:
        break;
    }
  }
  return false;
}

// True where a dictionary anywhere has one of Keras 3's keys. Depth is bounded by the parser.
bool HasKeras3Marks(const json& value) {
  if (value.is_object()) {
    if (value.contains("batch_shape")) return true;
    const std::string class_name = StringMember(value, "class_name");
    if (class_name == "__keras_tensor__" || class_name == "DTypePolicy") return true;
  }
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), HasKeras3Marks);
}

}  // namespace

bool ParseJsonText(std::string_view text, json* document, std::vector<Problem>* problems) {
  if (text.size() > kMaxBytes) {
    problems->push_back({ErrorCode::kLimitExceeded, "model architecture is too large",
                         "It has " + std::to_string(text.size()) + " bytes; the limit is " +
                             std::to_string(kMaxBytes) + ".",
                         "Weights belong into the weights argument, not into the JSON."});
    return false;
  }
  if (IsTooDeep(text)) {
    problems->push_back({ErrorCode::kLimitExceeded, "model architecture is nested too deeply",
                         "The limit is " + std::to_string(kMaxDepth) + " levels.", ""});
    return false;
  }
  try {
    *document = json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    problems->push_back(SyntaxProblem(text, error.byte));
    return false;
  } catch (const json::exception&) {
    problems->push_back({ErrorCode::kInvalidText, "model architecture is not valid JSON",
                         "A number is too large.", kHint});
    return false;
  }
  if (document->is_object() && document->contains("class_name")) return true;
  Problem problem{ErrorCode::kInvalidText, "model architecture is not a Keras model",
                  "The JSON is " + ShortJson(*document) + ".", kHint};
  if (document->is_string()) {
    problem.detail = "The JSON is a string.";
    problem.hint = "Store the output of model.to_json() itself, not encoded as JSON once more.";
  }
  problems->push_back(problem);
  return false;
}

KerasFamily DetectFamily(const json& document) {
  const std::string version = StringMember(document, "keras_version");
  if (!version.empty() && std::isdigit(static_cast<unsigned char>(version[0]))) {
    return std::atoi(version.c_str()) >= 3 ? KerasFamily::kKeras3 : KerasFamily::kKeras2;
  }
  const bool keras3 = document.contains("module") || HasKeras3Marks(document);
  return keras3 ? KerasFamily::kKeras3 : KerasFamily::kKeras2;
}

}  // namespace hopper
