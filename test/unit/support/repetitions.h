// How much a test does where each instruction costs more. ThreadSanitizer looks at the order of
// threads, which a few rounds show; the plain program and AddressSanitizer do all of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hopper {

#ifdef __SANITIZE_THREAD__
constexpr bool kUnderThreadSanitizer = true;
#else
constexpr bool kUnderThreadSanitizer = false;
#endif

// Rounds, seeds or rows: a fifth of `n` under ThreadSanitizer.
template <typename Number>
constexpr Number Repetitions(Number n) {
  return kUnderThreadSanitizer ? std::max<Number>(n / 5, 1) : n;
}

}  // namespace hopper
