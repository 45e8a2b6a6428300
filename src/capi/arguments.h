// Arguments of the table's functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace hopper {

inline std::string Text(const char* text) { return text == nullptr ? "" : text; }

// An empty text is SQL's NULL where it means that there is nothing to say.
inline std::optional<std::string> NullIfEmpty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

inline void Require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorCode::kInternal, std::string(what) + " is missing in a call");
}

inline std::string_view JsonText(const char* json, size_t size) {
  Require(json != nullptr, "architecture");
  return {json, size};
}

}  // namespace hopper
