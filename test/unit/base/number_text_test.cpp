// Against std::from_chars and std::to_chars of the libstdc++ that the tests are built with.
#include "base/number_text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace hopper {
namespace {

std::string Scientific(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
  return std::string(text, end.ptr);
}

std::string FromDigits(double value) {
  const auto [digits, exponent] = ShortestDigitsOf(value);
  std::string text = digits.substr(0, 1);
  if (digits.size() > 1) text += "." + digits.substr(1);
  char power[16];
  std::snprintf(power, sizeof(power), "e%+03d", exponent);
  return text + power;
}

double Bits(uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST(NumberText, ShortestDigitsAreThoseOfTheStandardLibrary) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::fabs(Bits(random()));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(FromDigits(value), Scientific(value)) << value;
    ASSERT_EQ(NumberOf(Scientific(value)), value);
  }
  for (const double value : {0.0, 1.0, 0.1, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1200.0,
                             std::numeric_limits<double>::max()}) {
    EXPECT_EQ(FromDigits(value), Scientific(value));
  }
}

TEST(NumberText, LengthIsWhatFromCharsReads) {
  for (const std::string text : {"12", "1.5x", ".5", "5.", "2e-3", "2e", "2e+", "1e5e5", "1.2.3",
                                 "1_000", "e5", ".", "x", "", "0x10", "1E+05,", "007"}) {
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    const size_t length = end.ec == std::errc() ? static_cast<size_t>(end.ptr - text.data()) : 0;
    EXPECT_EQ(NumberLength(text), length) << text;
    if (length > 0) {
      EXPECT_EQ(NumberOf(std::string_view(text).substr(0, length)), value) << text;
    }
  }
}

TEST(NumberText, NumbersBeyondTheRange) {
  EXPECT_TRUE(std::isinf(NumberOf("1e400")));
  EXPECT_EQ(NumberOf("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(NumberOf("-1e-400")));
}

}  // namespace
}  // namespace hopper
