// How much a test does where each instruction costs more. ThreadSanitizer looks at the order of
// threads, which a few rounds show; the plain program and AddressSanitizer do all of them, but for
// long arithmetic, for which that compiles a hundred times as many instructions.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hopper {

#ifdef __SANITIZE_THREAD__
constexpr bool kUnderThreadSanitizer = true;
#else
constexpr bool kUnderThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kUnderAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kUnderAddressSanitizer = true;
#else
constexpr bool kUnderAddressSanitizer = false;
#endif
#else
constexpr bool kUnderAddressSanitizer = false;
#endif

// Rounds, seeds or rows: a fifth of `n` under ThreadSanitizer.
template <typename Number>
constexpr Number Repetitions(Number n) {
  return kUnderThreadSanitizer ? std::max<Number>(n / 5, 1) : n;
}

}  // namespace hopper
