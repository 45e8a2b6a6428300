#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/cancel.h"
#include "base/error.h"
#include "base/number_text.h"
#include "params/text.h"

namespace hopper {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }
// Bytes 10xxxxxx continue a UTF-8 character.
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
    out->push_back(static_cast<char>(0x80 | (code & 63)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code >> 12));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 63)));
    out->push_back(static_cast<char>(0x80 | (code & 63)));
  } else {
    out->push_back(static_cast<char>(0xF0 | code >> 18));
    out->push_back(static_cast<char>(0x80 | (code >> 12 & 63)));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 63)));
    out->push_back(static_cast<char>(0x80 | (code & 63)));
  }
}

// Recursive descent; one object parses one text.
class PythonParser {
 public:
  PythonParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  Value ParseWholeValue() {
    Value value = ParseValue(0);
    SkipSpace();
    if (!AtEnd()) FailUnexpected("the end");
    return value;
  }

  std::vector<ValueEntry> ParseWholeArguments() {
    Value call;
    std::unordered_set<std::string> names;
    SkipSpace();
    while (!AtEnd()) {
      ParseArgument(&call, &names, /*positional=*/false, 0);
      SkipSpace();
      if (AtEnd()) break;
      if (!Take(',')) FailUnexpected("\",\"");
      SkipSpace();
    }
    return std::move(call.entries);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(text_[at_])) ++at_;
  }

  [[noreturn]] void Fail(size_t at, const std::string& problem,
                         const std::string& hint = "") const {
    throw Error(ErrorCode::kInvalidText, what_ + " cannot be parsed: " + problem,
                DescribePosition(text_, at), hint);
  }

  [[noreturn]] void FailUnexpected(const std::string& expected) const {
    if (AtEnd()) Fail(at_, "expected " + expected + " but the text ends");
    size_t end = at_ + 1;
    if (IsNamePart(text_[at_])) {
      while (end < text_.size() && IsNamePart(text_[end]) && end - at_ < 40) ++end;
    } else {
      while (end < text_.size() && IsContinuation(text_[end])) ++end;
    }
    const bool sum = std::string_view("+-*/%").find(text_[at_]) != std::string_view::npos;
    Fail(at_,
         "expected " + expected + ", not \"" + std::string(text_.substr(at_, end - at_)) + "\"",
         sum ? "There is no arithmetic: write 0.001, not 1/1000, for example." : "");
  }

 public:
  // 'Position 12, near "...".'
  static std::string DescribePosition(std::string_view text, size_t at) {
    size_t position = 1;
    for (size_t i = 0; i < at && i < text.size(); ++i) position += IsContinuation(text[i]) ? 0 : 1;
    size_t begin = std::min(at, text.size());
    for (int n = 0; n < 10 && begin > 0; ++n) {
      --begin;
      while (begin > 0 && IsContinuation(text[begin])) --begin;
    }
    size_t end = std::min(at, text.size());
    for (int n = 0; n < 10 && end < text.size(); ++n) {
      ++end;
      while (end < text.size() && IsContinuation(text[end])) ++end;
    }
    return "Position " + std::to_string(position) + ", near \"" +
           std::string(text.substr(begin, end - begin)) + "\".";
  }

 private:
  Value ParseValue(int depth) {
    LookAtCancel();
    if (depth > kMaxValueDepth) {
      Fail(at_, "values are nested more than " + std::to_string(kMaxValueDepth) + " deep");
    }
    SkipSpace();
    const char c = Peek();
    if (c == '[') return ParseSequence(Value::Kind::kList, '[', ']', depth);
    if (c == '(') return ParseSequence(Value::Kind::kTuple, '(', ')', depth);
    if (c == '{') return ParseDict(depth);
    if (c == '\'' || c == '"') return Value::String(ParseString());
    if (IsDigit(c) || c == '.' || c == '+' || c == '-') return ParseNumber();
    if (IsNameStart(c)) return ParseNameOrCall(depth);
    FailUnexpected("a value");
  }

  Value ParseSequence(Value::Kind kind, char open, char close, int depth) {
    Value value;
    value.kind = kind;
    const size_t start = at_;
    Take(open);
    bool comma = false;
    for (;;) {
      SkipSpace();
      if (Take(close)) break;
      if (AtEnd()) Fail(start, Unclosed(open));
      value.items.push_back(ParseValue(depth + 1));
      SkipSpace();
      if (Take(close)) break;
      if (AtEnd()) Fail(start, Unclosed(open));
      if (!Take(',')) FailUnexpected("\",\" or " + Quoted(close));
      comma = true;
    }
    // Brackets around one value without a comma only group.
    if (kind == Value::Kind::kTuple && value.items.size() == 1 && !comma) {
      Value inner = std::move(value.items[0]);
      return inner;
    }
    return value;
  }

  Value ParseDict(int depth) {
    Value value;
    value.kind = Value::Kind::kDict;
    const size_t start = at_;
    std::unordered_set<std::string> keys;  // as Python writes them
    Take('{');
    for (;;) {
      SkipSpace();
      if (Take('}')) return value;
      if (AtEnd()) Fail(start, Unclosed('{'));
      const size_t key_at = at_;
      Value key = ParseValue(depth + 1);
      SkipSpace();
      if (!Take(':')) FailUnexpected("\":\"");
      if (!keys.insert(Render(key)).second) Fail(key_at, "key " + Render(key) + " stands twice");
      value.entries.push_back({std::move(key), ParseValue(depth + 1)});
      SkipSpace();
      if (Take('}')) return value;
      if (AtEnd()) Fail(start, Unclosed('{'));
      if (!Take(',')) FailUnexpected("\",\" or \"}\"");
    }
  }

  // name=value, or a value alone where `positional`; into `call`.
  void ParseArgument(Value* call, std::unordered_set<std::string>* names, bool positional,
                     int depth) {
    SkipSpace();
    const size_t start = at_;
    if (IsNameStart(Peek())) {
      while (IsNamePart(Peek())) ++at_;
      std::string name(text_.substr(start, at_ - start));
      SkipSpace();
      if (Peek() == '=') {
        ++at_;
        if (Peek() == '=') FailUnexpected("a value");
        if (!names->insert(name).second) Fail(start, "argument \"" + name + "\" is given twice");
        call->entries.push_back({Value::String(std::move(name)), ParseValue(depth + 1)});
        return;
      }
      if (!positional) FailUnexpected("\"=\" after \"" + name + "\"");
      at_ = start;
    }
    if (!positional) FailUnexpected("the name of an argument");
    if (!call->entries.empty()) Fail(start, "an argument without a name follows named ones");
    call->items.push_back(ParseValue(depth + 1));
  }

  Value ParseNameOrCall(int depth) {
    const size_t start = at_;
    while (IsNamePart(Peek()) ||
           (Peek() == '.' && at_ + 1 < text_.size() && IsNameStart(text_[at_ + 1]))) {
      ++at_;
    }
    std::string name(text_.substr(start, at_ - start));
    if ((name == "u" || name == "U") && (Peek() == '\'' || Peek() == '"')) {
      return Value::String(ParseString());
    }
    // JSON's spelling too, for JSON objects among keyword arguments.
    if (name == "None" || name == "null") return Value::None();
    if (name == "True" || name == "true") return Value::Bool(true);
    if (name == "False" || name == "false") return Value::Bool(false);
    const size_t after = at_;
    SkipSpace();
    if (Peek() != '(') {
      at_ = after;
      return Value::Name(std::move(name));
    }
    Value call;
    call.kind = Value::Kind::kCall;
    call.text = std::move(name);
    std::unordered_set<std::string> names;
    const size_t open = at_;
    Take('(');
    for (;;) {
      SkipSpace();
      if (Take(')')) return call;
      if (AtEnd()) Fail(open, Unclosed('('));
      ParseArgument(&call, &names, /*positional=*/true, depth);
      SkipSpace();
      if (Take(')')) return call;
      if (AtEnd()) Fail(open, Unclosed('('));
      if (!Take(',')) FailUnexpected("\",\" or \")\"");
    }
  }

  Value ParseNumber() {
    const size_t start = at_;
    const bool negative = Peek() == '-';
    if (Peek() == '+' || Peek() == '-') ++at_;
    SkipSpace();
    const size_t digits_at = at_;
    bool integer = true, any = false;
    while (IsDigit(Peek())) ++at_, any = true;
    if (Peek() == '.') {
      integer = false;
      ++at_;
      while (IsDigit(Peek())) ++at_, any = true;
    }
    if (!any) {
      at_ = digits_at;
      FailUnexpected("a number");
    }
    if (Peek() == 'e' || Peek() == 'E') {
      integer = false;
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!IsDigit(Peek())) FailUnexpected("the digits of an exponent");
      while (IsDigit(Peek())) ++at_;
    }
    if (IsNamePart(Peek())) FailUnexpected("the end of a number");
    std::string digits(negative ? "-" : "");
    digits += text_.substr(digits_at, at_ - digits_at);
    const char* begin = digits.data();
    const char* end = begin + digits.size();
    if (integer) {
      int64_t value = 0;
      const auto result = std::from_chars(begin, end, value);
      if (result.ec == std::errc() && result.ptr == end) return Value::Integer(value);
    }
    // Too small is zero as in Python; too large is no number anybody means.
    const double value = NumberOf(digits);
    if (std::isinf(value)) Fail(start, "the number is too large");
    return Value::Real(value);
  }

  std::string ParseString() {
    const size_t start = at_;
    const char quote = text_[at_++];
    std::string out;
    for (;;) {
      if (AtEnd() || text_[at_] == '\n') Fail(start, "the string is not closed");
      const char c = text_[at_++];
      if (c == quote) return out;
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      if (AtEnd()) Fail(start, "the string is not closed");
      ParseEscape(&out);
    }
  }

  // What follows a backslash.
  void ParseEscape(std::string* out) {
    const size_t start = at_ - 1;
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        out->push_back('\n');
        return;
      case 't':
        out->push_back('\t');
        return;
      case 'r':
        out->push_back('\r');
        return;
      case '\\':
      case '\'':
      case '"':
        out->push_back(c);
        return;
      case '\n':
        return;
      case 'x':
        AppendCode(ParseHex(2, start), start, out);
        return;
      case 'u':
        AppendCode(ParseHex(4, start), start, out);
        return;
      case 'U':
        AppendCode(ParseHex(8, start), start, out);
        return;
      default:
        // Python keeps the backslash of an escape that it does not know.
        out->push_back('\\');
        out->push_back(c);
    }
  }

  uint32_t ParseHex(int digits, size_t start) {
    uint32_t code = 0;
    const char* begin = text_.data() + at_;
    if (text_.size() - at_ < static_cast<size_t>(digits)) Fail(start, "the escape is incomplete");
    const auto result = std::from_chars(begin, begin + digits, code, 16);
    if (result.ec != std::errc() || result.ptr != begin + digits) {
      Fail(start, "the escape needs " + std::to_string(digits) + " hexadecimal digits");
    }
    at_ += digits;
    return code;
  }

  // Only characters that PostgreSQL can store.
  void AppendCode(uint32_t code, size_t start, std::string* out) {
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      Fail(start, "the escape is no character");
    }
    AppendUtf8(code, out);
  }

  static std::string Quoted(char c) { return std::string("\"") + c + "\""; }
  static std::string Unclosed(char open) { return Quoted(open) + " is not closed"; }

  std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
};

}  // namespace

void RequireTextSize(std::string_view text, const std::string& what) {
  if (text.size() <= kMaxTextBytes) return;
  throw Error(ErrorCode::kLimitExceeded, what + " is too long",
              "It has " + std::to_string(text.size()) + " bytes; the limit is " +
                  std::to_string(kMaxTextBytes) + ".");
}

Value ParsePythonValue(std::string_view text, const std::string& what) {
  RequireTextSize(text, what);
  return PythonParser(text, what).ParseWholeValue();
}

std::vector<ValueEntry> ParsePythonArguments(std::string_view text, const std::string& what) {
  RequireTextSize(text, what);
  return PythonParser(text, what).ParseWholeArguments();
}

std::string DescribePosition(std::string_view text, size_t at) {
  return PythonParser::DescribePosition(text, at);
}

bool IsBlank(std::string_view text) {
  for (const char c : text) {
    if (!IsSpace(c)) return false;
  }
  return true;
}

}  // namespace hopper
