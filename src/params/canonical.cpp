#include <algorithm>
#include <utility>

#include "params/params.h"
#include "params/text.h"

namespace hopper {
namespace {

// Keys sorted, 'adam' and adam alike, 'Adam(lr=1)' as the call that it is.
void Canonicalize(Value* value, int depth) {
  if (value->kind == Value::Kind::kString && depth < kMaxValueDepth) {
    // Strings with brackets may be calls in quotes; others stay what they are.
    if (value->text.find('(') != std::string::npos) {
      try {
        Value call = ParsePythonValue(value->text, "");
        if (call.kind == Value::Kind::kCall) *value = std::move(call);
      } catch (const Error&) {
      }
    }
  } else if (value->kind == Value::Kind::kName) {
    value->kind = Value::Kind::kString;
  }
  for (Value& item : value->items) Canonicalize(&item, depth + 1);
  for (ValueEntry& entry : value->entries) {
    if (entry.key.kind == Value::Kind::kName) entry.key.kind = Value::Kind::kString;
    Canonicalize(&entry.value, depth + 1);
  }
  std::sort(value->entries.begin(), value->entries.end(),
            [](const ValueEntry& a, const ValueEntry& b) { return Render(a.key) < Render(b.key); });
  // Adam() is 'Adam'.
  if (value->kind == Value::Kind::kCall && value->items.empty() && value->entries.empty()) {
    value->kind = Value::Kind::kString;
  }
}

}  // namespace

std::string CanonicalParams(std::string_view text) {
  Value arguments;
  arguments.kind = Value::Kind::kDict;
  try {
    arguments.entries = ParseArguments(text, "");
  } catch (const Error&) {
    return std::string(text);
  }
  Canonicalize(&arguments, 0);
  return RenderArguments(arguments.entries);
}

}  // namespace hopper
