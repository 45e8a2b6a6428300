#include "base/number_text.h"

#include <array>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace hopper {

namespace {

size_t DigitsFrom(std::string_view text, size_t at) {
  size_t n = 0;
  while (at + n < text.size() && text[at + n] >= '0' && text[at + n] <= '9') ++n;
  return n;
}

double Read(const char* text) {
  static const locale_t c = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text, nullptr, c);
}

}  // namespace

size_t NumberLength(std::string_view text) {
  size_t at = DigitsFrom(text, 0);
  size_t digits = at;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = DigitsFrom(text, at + 1);
    digits += fraction;
    at += 1 + fraction;
  }
  if (digits == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t after = at + 1;
    if (after < text.size() && (text[after] == '+' || text[after] == '-')) ++after;
    const size_t exponent = DigitsFrom(text, after);
    if (exponent > 0) at = after + exponent;
  }
  return at;
}

double NumberOf(std::string_view text) { return Read(std::string(text).c_str()); }

ShortestDigits ShortestDigitsOf(double value) {
  ShortestDigits found;
  char text[32];
  for (int after_point = 0; after_point < 17; ++after_point) {
    const int n = std::snprintf(text, sizeof(text), "%.*e", after_point, std::fabs(value));
    // Whatever the locale's point is.
    if (after_point > 0) text[1] = '.';
    if (n > 0 && Read(text) == std::fabs(value)) break;
  }
  const std::string all(text);
  const size_t e = all.find('e');
  for (const char c : all.substr(0, e)) {
    if (c != '.') found.digits.push_back(c);
  }
  found.exponent = std::stoi(all.substr(e + 1));
  return found;
}

std::string BytesText(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  constexpr int64_t kLargest = 10 * 1024;
  if (bytes < kLargest) return std::to_string(bytes) + " bytes";
  int64_t halves = bytes >> 9;  // of a unit, to round by
  size_t unit = 0;
  while (halves >= 2 * kLargest - 1 && unit + 1 < kUnits.size()) {
    halves >>= 10;
    ++unit;
  }
  return std::to_string((halves + 1) / 2) + " " + kUnits[unit];
}

}  // namespace hopper
