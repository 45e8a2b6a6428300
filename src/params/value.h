// A small tree for what parameter texts can say: Python literals, calls and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hopper {

struct ValueEntry;

struct Value {
  enum class Kind { kNone, kBool, kInteger, kReal, kString, kName, kList, kTuple, kDict, kCall };

  Kind kind = Kind::kNone;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;                  // kReal; for kInteger the same number
  std::string text;                 // kString, kName; kCall: the function's name
  std::vector<Value> items;         // kList, kTuple; kCall: arguments without a name
  std::vector<ValueEntry> entries;  // kDict; kCall: named arguments, keys are of kind kString

  static Value None() { return {}; }
  static Value Bool(bool b);
  static Value Integer(int64_t i);
  static Value Real(double r);
  static Value String(std::string s);
  static Value Name(std::string s);

  bool IsNone() const { return kind == Kind::kNone; }
  bool IsNumber() const { return kind == Kind::kInteger || kind == Kind::kReal; }
  // 'adam' and adam.
  bool IsText() const { return kind == Kind::kString || kind == Kind::kName; }
  bool IsSequence() const { return kind == Kind::kList || kind == Kind::kTuple; }
  // The value under a string key of a dict or call; nullptr where there is none.
  const Value* Find(std::string_view key) const;
};

struct ValueEntry {
  Value key;
  Value value;
};

// Nesting deeper than this is refused by the parsers, so that trees can be walked recursively.
constexpr int kMaxValueDepth = 64;

// Python's repr() of a number: the shortest text that reads back as the same double.
std::string RenderReal(double value);
// Python's repr() of a string, without escaping characters above ASCII.
std::string RenderString(std::string_view s);
// Python source of a value.
std::string Render(const Value& value);
// "loss='mse',metrics=['mae']": the inside of a call with named arguments.
std::string RenderArguments(const std::vector<ValueEntry>& entries);

// '1,259,712'.
std::string WithThousands(uint64_t n);

}  // namespace hopper
