// Texts in fields of a fixed size, as C structs have them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace hopper {

// How much of `text` fits into `most` bytes, cut between two characters of UTF-8.
inline size_t FittingBytes(std::string_view text, size_t most) noexcept {
  if (text.size() <= most) return text.size();
  size_t n = most;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
  return n;
}

// That much of it, and nothing from a zero on, where a C string would end.
inline std::string_view CutText(std::string_view text, size_t most) noexcept {
  return text.substr(0, FittingBytes(text, most)).substr(0, text.find('\0'));
}

// Copies as much of `text` as fits with its end; the rest of the field is zeros.
template <size_t N>
void CopyText(std::string_view text, char (&field)[N]) noexcept {
  const size_t n = FittingBytes(text, N - 1);
  std::memcpy(field, text.data(), n);
  std::memset(field + n, 0, N - n);
}

}  // namespace hopper
