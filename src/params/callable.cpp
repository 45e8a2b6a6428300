#include "params/callable.h"

#include <cmath>
#include <utility>

#include "params/text.h"

namespace hopper {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string LastComponent(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string Trim(const std::string& s) {
  size_t begin = 0, end = s.size();
  while (begin < end && IsBlank(std::string_view(s).substr(begin, 1))) ++begin;
  while (end > begin && IsBlank(std::string_view(s).substr(end - 1, 1))) --end;
  return s.substr(begin, end - begin);
}

// Keras' serialized form: {"class_name": ..., "config": {...}}, with "module" and
// "registered_name" beside them since Keras 3.
std::optional<Callable> ReadSerialized(const Value& value, const std::string& role,
                                       ProblemList* problems) {
  const Value* name = value.Find("class_name");
  if (name == nullptr || !name->IsText()) {
    problems->Error(ErrorCode::kInvalidParameter, role + " has no \"class_name\"",
                    "An object that describes it holds \"class_name\" and \"config\".");
    return std::nullopt;
  }
  Callable callable;
  callable.name = LastComponent(Trim(name->text));
  callable.text = callable.name;
  for (const ValueEntry& entry : value.entries) {
    const std::string& key = entry.key.text;
    if (key == "class_name" || key == "module" || key == "registered_name" ||
        key == "build_config") {
      continue;
    }
    if (key != "config") {
      const std::string shown = entry.key.IsText() ? key : Render(entry.key);
      problems->Error(ErrorCode::kInvalidParameter,
                      role + " \"" + callable.name + "\" has no field \"" + shown + "\"",
                      "An object that describes it holds \"class_name\" and \"config\".");
      return std::nullopt;
    }
    if (entry.value.IsText()) {
      // Keras serializes plain functions with their name as config.
      callable.name = callable.text = LastComponent(entry.value.text);
    } else if (entry.value.kind == Value::Kind::kDict) {
      callable.named = entry.value.entries;
    } else if (!entry.value.IsNone()) {
      problems->Error(ErrorCode::kInvalidParameter,
                      "\"config\" of " + role + " \"" + callable.name + "\" is not an object");
      return std::nullopt;
    }
  }
  return callable;
}

}  // namespace

void ProblemList::Error(ErrorCode code, std::string message, std::string detail, std::string hint) {
  ParamProblem problem;
  static_cast<Problem&>(problem) = {code, std::move(message), std::move(detail), std::move(hint)};
  problems_->push_back(std::move(problem));
}

void ProblemList::Warning(std::string message, std::string detail, std::string hint) {
  Error(ErrorCode::kInvalidParameter, std::move(message), std::move(detail), std::move(hint));
  problems_->back().warning = true;
}

void ProblemList::Add(const Problem& problem) {
  Error(problem.code, problem.message, problem.detail, problem.hint);
}

std::optional<double> ReadNumber(const Value& value, const Range& range, const std::string& label,
                                 ProblemList* problems) {
  if (!value.IsNumber()) {
    problems->Error(ErrorCode::kInvalidParameter,
                    label + " must be a number, got " + Render(value));
    return std::nullopt;
  }
  const double x = value.real;
  if (!range.Holds(x)) {
    problems->Error(ErrorCode::kInvalidParameter,
                    label + " " + range.rule + ", got " + Render(value));
    return std::nullopt;
  }
  return x;
}

std::optional<bool> ReadBool(const Value& value, const std::string& label, ProblemList* problems) {
  if (value.kind != Value::Kind::kBool) {
    problems->Error(ErrorCode::kInvalidParameter,
                    label + " must be True or False, got " + Render(value));
    return std::nullopt;
  }
  return value.boolean;
}

std::optional<int64_t> ReadInteger(const Value& value, int64_t low, int64_t high,
                                   const std::string& label, ProblemList* problems) {
  std::optional<int64_t> integer;
  if (value.kind == Value::Kind::kInteger) {
    integer = value.integer;
  } else if (value.kind == Value::Kind::kReal && std::floor(value.real) == value.real &&
             std::fabs(value.real) < 0x1p53) {
    integer = static_cast<int64_t>(value.real);
  }
  if (!integer && !value.IsNumber()) {
    problems->Error(ErrorCode::kInvalidParameter,
                    label + " must be an integer, got " + Render(value));
    return std::nullopt;
  }
  if (!integer || *integer < low || *integer > high) {
    const std::string rule = low == 1 ? " must be a positive integer"
                                      : " must be an integer of at least " + std::to_string(low);
    const bool too_large = integer ? *integer > high : value.real > static_cast<double>(high);
    problems->Error(ErrorCode::kInvalidParameter, label + rule + ", got " + Render(value),
                    too_large ? "The largest possible value is " + std::to_string(high) + "." : "");
    return std::nullopt;
  }
  return integer;
}

std::optional<Callable> ReadCallable(const Value& value, const std::string& role,
                                     ProblemList* problems) {
  Value parsed = value;
  Callable callable;
  if (value.kind == Value::Kind::kString) {
    const std::string text = Trim(value.text);
    callable.text = text;
    if (text.find('(') == std::string::npos && text.substr(0, 1) != "{") {
      parsed = Value::Name(text);
    } else {
      try {
        parsed = ParsePythonValue(text, role + " \"" + text + "\"");
      } catch (const hopper::Error& error) {
        problems->Add(error.problem());
        return std::nullopt;
      }
    }
  }
  if (parsed.kind == Value::Kind::kDict) return ReadSerialized(parsed, role, problems);
  if (parsed.kind != Value::Kind::kName && parsed.kind != Value::Kind::kCall) {
    problems->Error(ErrorCode::kInvalidParameter, role + " must be a name, got " + Render(value));
    return std::nullopt;
  }
  if (callable.text.empty()) callable.text = Render(parsed);
  callable.name = LastComponent(parsed.text);
  callable.positional = std::move(parsed.items);
  callable.named = std::move(parsed.entries);
  return callable;
}

std::string SnakeCase(const std::string& name) {
  const auto is_lower = [&name](size_t i) {
    return i < name.size() && name[i] >= 'a' && name[i] <= 'z';
  };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    // A capital begins a word after a small letter and before one: KLDivergence, MeanIoU.
    const bool begins = IsUpper(name[i]) && i > 0 && (is_lower(i - 1) || is_lower(i + 1));
    if (begins && name[i - 1] != '_') out.push_back('_');
    out.push_back(ToLower(name[i]));
  }
  return out;
}

std::string Join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace hopper
