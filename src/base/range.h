// What a number of a configuration must lie between.
#pragma once

#include <limits>

namespace hopper {

// Between `low` and `high`; an open end excludes the bound itself.
struct Range {
  double low = 0;
  double high = 0;
  bool low_open = false;
  bool high_open = false;
  // "must be positive": completes '<name> ..., got -1'.
  const char* rule = "";

  // NaN is in none.
  constexpr bool Holds(double x) const {
    return (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high);
  }
};

constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr Range kPositive = {0, kInfinite, true, true, "must be positive"};
inline constexpr Range kNotNegative = {0, kInfinite, false, true, "must not be negative"};
inline constexpr Range kNotPositive = {-kInfinite, 0, true, false, "must not be positive"};
inline constexpr Range kPositiveUnit = {0, 1, true, false, "must be above 0 and at most 1"};
inline constexpr Range kUnit = {0, 1, false, false, "must be between 0 and 1"};
// Of layers' arguments, as they have always said it.
inline constexpr Range kShare = {0, 1, false, false, "must lie between 0 and 1"};
inline constexpr Range kInsideUnit = {0, 1, true, true, "must be above 0 and below 1"};
inline constexpr Range kUnitHalfOpen = {0, 1, false, true, "must be at least 0 and below 1"};

}  // namespace hopper
