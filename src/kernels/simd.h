// Vectors of floats as wide as the instruction set of the file that includes this.
//
// Only for the kernel files: everything has internal linkage and is inlined, because the same
// names are compiled for several instruction sets, of which the linker must not mix the code.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

#define HOPPER_INLINE inline __attribute__((always_inline))
#define HOPPER_INLINED __attribute__((always_inline))  // of a lambda

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif

using Vec = float __attribute__((vector_size(4 * kWidth)));
using IntVec = int32_t __attribute__((vector_size(4 * kWidth)));

HOPPER_INLINE Vec Load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
HOPPER_INLINE void Store(float* p, Vec v) { std::memcpy(p, &v, sizeof(v)); }
HOPPER_INLINE Vec Set(float x) { return x - Vec{}; }

// a * b + c, rounded once where there is an instruction for it. Where the compiler chooses, two
// forms of a loop may get different bits.
HOPPER_INLINE Vec MulAdd(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return (Vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (Vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}

// The first n floats, 0 < n < kWidth; the others are 0 and are not touched in memory.
#if defined(__AVX512F__)
HOPPER_INLINE Vec LoadPart(const float* p, int64_t n) {
  return (Vec)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1), p);
}
HOPPER_INLINE void StorePart(float* p, Vec v, int64_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << n) - 1), (__m512)v);
}
HOPPER_INLINE Vec Sqrt(Vec x) { return (Vec)_mm512_maskz_sqrt_ps(0xFFFF, (__m512)x); }
HOPPER_INLINE IntVec RoundToInt(Vec x) {
  return (IntVec)_mm512_maskz_cvtps_epi32(0xFFFF, (__m512)x);
}
#else
HOPPER_INLINE Vec LoadPart(const float* p, int64_t n) {
#if defined(__AVX2__)
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane);
  return (Vec)_mm256_maskload_ps(p, mask);
#else
  Vec v{};
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}
HOPPER_INLINE void StorePart(float* p, Vec v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
}
#if defined(__AVX2__)
HOPPER_INLINE Vec Sqrt(Vec x) { return (Vec)_mm256_sqrt_ps((__m256)x); }
HOPPER_INLINE IntVec RoundToInt(Vec x) { return (IntVec)_mm256_cvtps_epi32((__m256)x); }
#else
HOPPER_INLINE Vec Sqrt(Vec x) {
  for (int i = 0; i < kWidth; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
}
// To the nearest, by the rounding of the addition; for |x| < 2^22.
HOPPER_INLINE IntVec RoundToInt(Vec x) {
  const Vec magic = Set(12582912.0F);
  const Vec sum = x + magic;
  IntVec bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  return bits - 0x4B400000;
}
#endif
#endif

// The compiler knows nothing of the pointer, so that it keeps none for each place that is so far
// from it: they would be more than there are registers.
template <typename T>
HOPPER_INLINE T* Anew(T* p) {
  asm("" : "+r"(p));
  return p;
}

// A whole vector where `part` is 0.
HOPPER_INLINE Vec LoadUpTo(const float* p, int64_t part) {
  return part == 0 ? Load(p) : LoadPart(p, part);
}
HOPPER_INLINE void StoreUpTo(float* p, Vec v, int64_t part) {
  part == 0 ? Store(p, v) : StorePart(p, v, part);
}

// Numbers of a and b in turns, from the place `first` of each on.
template <int first, int... kPlace>
HOPPER_INLINE Vec InTurns(Vec a, Vec b, std::integer_sequence<int, kPlace...> /*places*/) {
  return __builtin_shufflevector(a, b, (first + kPlace / 2 + kPlace % 2 * kWidth)...);
}

// out[c][r] = in[r][c] of at most kWidth rows and columns. Of each row of `out` kWidth numbers are
// written, those beside the rows as zeros, or `part` where that is not 0.
HOPPER_INLINE void TransposeTile(const float* in, int64_t in_row, int64_t rows, int64_t columns,
                                 float* out, int64_t out_row, int64_t part) {
  Vec row[kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    row[i] = i < rows ? LoadUpTo(in + i * in_row, columns < kWidth ? columns : 0) : Vec{};
  }
  // Each time the highest bit of a number's place in its vector becomes the lowest of its vector's.
#pragma GCC unroll 4
  for (int bit = 1; bit < kWidth; bit *= 2) {
    constexpr std::make_integer_sequence<int, kWidth> kPlaces;
    Vec next[kWidth];
#pragma GCC unroll 8
    for (int i = 0; i < kWidth / 2; ++i) {
      next[2 * i] = InTurns<0>(row[i], row[i + kWidth / 2], kPlaces);
      next[2 * i + 1] = InTurns<kWidth / 2>(row[i], row[i + kWidth / 2], kPlaces);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) row[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    if (i < columns) StoreUpTo(out + i * out_row, row[i], part);
  }
}

// The second argument where one of the two is NaN.
#if defined(__AVX512F__)
HOPPER_INLINE Vec Max(Vec a, Vec b) {
  return (Vec)_mm512_maskz_max_ps(0xFFFF, (__m512)a, (__m512)b);
}
HOPPER_INLINE Vec Min(Vec a, Vec b) {
  return (Vec)_mm512_maskz_min_ps(0xFFFF, (__m512)a, (__m512)b);
}
#elif defined(__AVX2__)
HOPPER_INLINE Vec Max(Vec a, Vec b) { return (Vec)_mm256_max_ps((__m256)a, (__m256)b); }
HOPPER_INLINE Vec Min(Vec a, Vec b) { return (Vec)_mm256_min_ps((__m256)a, (__m256)b); }
#else
HOPPER_INLINE Vec Max(Vec a, Vec b) { return a > b ? a : b; }
HOPPER_INLINE Vec Min(Vec a, Vec b) { return a < b ? a : b; }
#endif
HOPPER_INLINE Vec AsFloat(IntVec x) {
  Vec v;
  std::memcpy(&v, &x, sizeof(v));
  return v;
}
HOPPER_INLINE IntVec AsInt(Vec x) {
  IntVec v;
  std::memcpy(&v, &x, sizeof(v));
  return v;
}
HOPPER_INLINE Vec ToFloat(IntVec x) { return __builtin_convertvector(x, Vec); }
HOPPER_INLINE Vec Abs(Vec x) { return AsFloat(AsInt(x) & 0x7FFFFFFF); }

// Always in the same order.
HOPPER_INLINE float SumOf(Vec x) {
  float sum = 0.0F;
  for (int i = 0; i < kWidth; ++i) sum += x[i];
  return sum;
}
HOPPER_INLINE float MaxOf(Vec x) {
  float most = x[0];
  for (int i = 1; i < kWidth; ++i) most = most > x[i] ? most : x[i];
  return most;
}

// exp(x) with an error of about 1 ulp; NaN stays NaN. Argument reduction by Cody and Waite;
// minimax coefficients of the Cephes library's expf.
HOPPER_INLINE Vec Exp(Vec x) {
  const Vec clamped = Max(Set(-104.0F), Min(Set(88.8F), x));
  const IntVec n = RoundToInt(clamped * 1.44269504088896341F);
  const Vec m = ToFloat(n);
  Vec r = clamped - m * 0.693359375F;
  r = r - m * -2.12194440e-4F;
  Vec p = Set(1.9875691500E-4F);
  p = p * r + 1.3981999507E-3F;
  p = p * r + 8.3334519073E-3F;
  p = p * r + 4.1665795894E-2F;
  p = p * r + 1.6666665459E-1F;
  p = p * r + 5.0000001201E-1F;
  p = p * (r * r) + r + 1.0F;
  // 2^n in two factors, so that n = 128 overflows to infinity and n = -150 to zero.
  const IntVec half = n >> 1;
  return p * AsFloat((half + 127) << 23) * AsFloat((n - half + 127) << 23);
}

// exp(x) - 1, also near 0.
HOPPER_INLINE Vec Expm1(Vec x) {
  Vec p = Set(1.9875691500E-4F);
  p = p * x + 1.3981999507E-3F;
  p = p * x + 8.3334519073E-3F;
  p = p * x + 4.1665795894E-2F;
  p = p * x + 1.6666665459E-1F;
  p = p * x + 5.0000001201E-1F;
  const Vec near = p * (x * x) + x;
  const Vec far = Exp(x) - 1.0F;
  return Abs(x) < 0.34F ? near : far;
}

// log(x) for normal positive x with an error of about 1 ulp; Cephes' logf.
HOPPER_INLINE Vec Log(Vec x) {
  const IntVec bits = AsInt(x);
  IntVec exponent = ((bits >> 23) & 0xFF) - 126;
  Vec m = AsFloat((bits & 0x007FFFFF) | 0x3F000000);  // [0.5, 1)
  const IntVec low = m < 0.707106781186547524F;
  exponent = exponent + low;  // low is -1 where true
  m = m + (low ? m : Vec{}) - 1.0F;
  const Vec z = m * m;
  Vec p = Set(7.0376836292E-2F);
  p = p * m - 1.1514610310E-1F;
  p = p * m + 1.1676998740E-1F;
  p = p * m - 1.2420140846E-1F;
  p = p * m + 1.4249322787E-1F;
  p = p * m - 1.6668057665E-1F;
  p = p * m + 2.0000714765E-1F;
  p = p * m - 2.4999993993E-1F;
  p = p * m + 3.3333331174E-1F;
  Vec y = p * m * z;
  const Vec e = ToFloat(exponent);
  y = y + e * -2.12194440e-4F;
  y = y - z * 0.5F;
  return m + y + e * 0.693359375F;
}

// log(1 + x) for 0 <= x <= 1, without the rounding error of 1 + x (Goldberg's correction).
HOPPER_INLINE Vec Log1p(Vec x) {
  const Vec sum = x + 1.0F;
  const Vec rounded = sum - 1.0F;
  return rounded == 0.0F ? x : Log(sum) * (x / rounded);
}

HOPPER_INLINE Vec Sigmoid(Vec x) {
  // exp of a negative number only: nothing overflows, and both tails keep their precision.
  const Vec e = Exp(-Abs(x));
  return (x < 0.0F ? e : Set(1.0F)) / (e + 1.0F);
}

HOPPER_INLINE Vec Tanh(Vec x) {
  const Vec a = Abs(x);
  // Cephes' tanhf: a polynomial near 0, where 1 - 2 / (exp(2a) + 1) would cancel.
  const Vec z = x * x;
  Vec p = Set(-5.70498872745E-3F);
  p = p * z + 2.06390887954E-2F;
  p = p * z - 5.37397155531E-2F;
  p = p * z + 1.33314422036E-1F;
  p = p * z - 3.33332819422E-1F;
  const Vec near = p * z * x + x;
  const Vec far = 1.0F - 2.0F / (Exp(a + a) + 1.0F);
  return a < 0.625F ? near : (x < 0.0F ? -far : far);
}

// Calls body(vectors, i, load, store) from i = first on until `last`: for kVecs vectors at once as
// long as there are, which the constant `vectors` says, then for one, and for the rest of one.
template <int kVecs, typename Body>
HOPPER_INLINE void ForSomeVectors(int64_t first, int64_t last, const Body& body) {
  const std::integral_constant<int, 1> one;
  const auto load = [](const float* from) { return Load(from); };
  const auto store = [](float* to, Vec v) { Store(to, v); };
  int64_t i = first;
  if constexpr (kVecs > 1) {
    for (; i + kVecs * kWidth <= last; i += kVecs * kWidth) {
      body(std::integral_constant<int, kVecs>(), i, load, store);
    }
  }
  for (; i + kWidth <= last; i += kWidth) body(one, i, load, store);
  if (i == last) return;
  const int64_t n = last - i;
  body(
      one, i, [n](const float* from) { return LoadPart(from, n); },
      [n](float* to, Vec v) { StorePart(to, v, n); });
}

// Calls body(i, load, store) for the vectors of n numbers, of which the last may be a part.
template <typename Body>
HOPPER_INLINE void ForRow(int64_t n, const Body& body) {
  ForSomeVectors<1>(0, n,
                    [&](auto /*one*/, int64_t i, auto load, auto store) { body(i, load, store); });
}

}  // namespace
