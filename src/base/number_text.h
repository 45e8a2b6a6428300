// Numbers from text and back, the same in every locale. std::from_chars and std::to_chars for
// double want the libstdc++ of GCC 11, newer than that of the oldest hosts (see src/portable).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hopper {

// Length of the decimal number without a sign that `text` begins with (12, 1.5, .5, 2e-3), 0 if
// there is none.
size_t NumberLength(std::string_view text);

// The double nearest to a decimal number, all of `text`, with or without a minus; infinite where it
// is too large, zero where too small.
double NumberOf(std::string_view text);

// The fewest significant digits that read as `value` again, and the exponent of the first; of a
// finite number without its sign. 1200 has "12" and 3.
struct ShortestDigits {
  std::string digits;
  int exponent = 0;
};
ShortestDigits ShortestDigitsOf(double value);

// "9319 MB": of bytes from 0 on, as the server's pg_size_pretty() writes them.
std::string BytesText(int64_t bytes);

}  // namespace hopper
