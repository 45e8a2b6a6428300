// How much a test does where each instruction costs more. ThreadSanitizer looks at the order of
// threads, which a few rounds show; the plain program and AddressSanitizer do all of them, but for
// long arithmetic, for which that compiles a hundred times as many instructions, and for thousands
// of files made by chance, of which fuzz targets see others.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hopper {

#if defined(__has_feature)  // clang
constexpr bool kUnderThreadSanitizer = __has_feature(thread_sanitizer);
constexpr bool kUnderAddressSanitizer = __has_feature(address_sanitizer);
#else
#ifdef __SANITIZE_THREAD__
constexpr bool kUnderThreadSanitizer = true;
#else
constexpr bool kUnderThreadSanitizer = false;
#endif
#ifdef __SANITIZE_ADDRESS__
constexpr bool kUnderAddressSanitizer = true;
#else
constexpr bool kUnderAddressSanitizer = false;
#endif
#endif

// Rounds, seeds or rows: a fifth of `n` under ThreadSanitizer.
template <typename Number>
constexpr Number Repetitions(Number n) {
  return kUnderThreadSanitizer ? std::max<Number>(n / 5, 1) : n;
}

// Cases made by chance, one like the other: a quarter of `n` under AddressSanitizer.
template <typename Number>
constexpr Number ChanceCases(Number n) {
  return kUnderAddressSanitizer ? std::max<Number>(n / 4, 1) : n;
}

}  // namespace hopper
