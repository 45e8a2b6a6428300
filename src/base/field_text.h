// Texts in fields of a fixed size, as C structs have them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

namespace hopper {

// Copies as much of `text` as fits with its end, cut between two characters of UTF-8; the rest of
// the field is zeros.
template <size_t N>
void CopyText(const std::string& text, char (&field)[N]) noexcept {
  size_t n = text.size() < N ? text.size() : N - 1;
  if (n < text.size()) {
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
  }
  std::memcpy(field, text.data(), n);
  std::memset(field + n, 0, N - n);
}

}  // namespace hopper
