#include "params/value.h"

#include <cmath>
#include <utility>

#include "base/number_text.h"

namespace hopper {

Value Value::Bool(bool b) {
  Value v;
  v.kind = Kind::kBool;
  v.boolean = b;
  return v;
}

Value Value::Integer(int64_t i) {
  Value v;
  v.kind = Kind::kInteger;
  v.integer = i;
  v.real = static_cast<double>(i);
  return v;
}

Value Value::Real(double r) {
  Value v;
  v.kind = Kind::kReal;
  v.real = r;
  return v;
}

Value Value::String(std::string s) {
  Value v;
  v.kind = Kind::kString;
  v.text = std::move(s);
  return v;
}

Value Value::Name(std::string s) {
  Value v;
  v.kind = Kind::kName;
  v.text = std::move(s);
  return v;
}

const Value* Value::Find(std::string_view key) const {
  for (const ValueEntry& entry : entries) {
    if (entry.key.IsText() && entry.key.text == key) return &entry.value;
  }
  return nullptr;
}

std::string RenderReal(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Placed as Python places them.
  const std::string sign = std::signbit(value) ? "-" : "";
  const auto [digits, exponent] = ShortestDigitsOf(value);
  const int n = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1);
    if (n > 1) mantissa += "." + digits.substr(1);
    const std::string power = std::to_string(std::abs(exponent));
    return sign + mantissa + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  if (exponent < 0) return sign + "0." + std::string(-exponent - 1, '0') + digits;
  if (exponent >= n - 1) return sign + digits + std::string(exponent - n + 1, '0') + ".0";
  return sign + digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
}

std::string RenderString(std::string_view s) {
  const bool has_single = s.find('\'') != std::string_view::npos;
  const bool has_double = s.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  static const char kDigits[] = "0123456789abcdef";
  std::string out(1, quote);
  for (const char c : s) {
    if (c == quote || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      out += "\\x";
      out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
      out.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back(quote);
  return out;
}

std::string RenderArguments(const std::vector<ValueEntry>& entries) {
  std::string out;
  for (const ValueEntry& entry : entries) {
    if (!out.empty()) out += ",";
    out += entry.key.text + "=" + Render(entry.value);
  }
  return out;
}

std::string Render(const Value& value) {
  std::string out;
  const auto items = [&] {
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += ",";
      out += Render(value.items[i]);
    }
  };
  switch (value.kind) {
    case Value::Kind::kNone:
      return "None";
    case Value::Kind::kBool:
      return value.boolean ? "True" : "False";
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kReal:
      return RenderReal(value.real);
    case Value::Kind::kString:
      return RenderString(value.text);
    case Value::Kind::kName:
      return value.text;
    case Value::Kind::kList:
      out = "[";
      items();
      return out + "]";
    case Value::Kind::kTuple:
      out = "(";
      items();
      return out + (value.items.size() == 1 ? ",)" : ")");
    case Value::Kind::kDict:
      out = "{";
      for (const ValueEntry& entry : value.entries) {
        if (out.size() > 1) out += ",";
        out += Render(entry.key) + ":" + Render(entry.value);
      }
      return out + "}";
    case Value::Kind::kCall:
      out = value.text + "(";
      items();
      if (!value.items.empty() && !value.entries.empty()) out += ",";
      return out + RenderArguments(value.entries) + ")";
  }
  return out;
}

std::string WithThousands(uint64_t n) {
  std::string out = std::to_string(n);
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) out.insert(at, ",");
  return out;
}

}  // namespace hopper
