#include "base/text_hash.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace hopper {
namespace {

constexpr uint64_t kFirst = 0xc3a5c85c97cb3127U;
constexpr uint64_t kSecond = 0xb492b66fbe98f273U;
constexpr uint64_t kThird = 0x9ae16a3b2f90404fU;

using Pair = std::pair<uint64_t, uint64_t>;

uint64_t Load64(const char* at) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | static_cast<unsigned char>(at[i]);
  return word;
}

uint64_t Load32(const char* at) {
  uint64_t word = 0;
  for (int i = 3; i >= 0; --i) word = word << 8 | static_cast<unsigned char>(at[i]);
  return word;
}

uint64_t RotateRight(uint64_t word, int by) { return word >> by | word << (64 - by); }
uint64_t RotateLeft(uint64_t word, int by) { return word << by | word >> (64 - by); }
uint64_t FoldTop(uint64_t word) { return word ^ word >> 47; }

// --- Fingerprint64 ---

uint64_t Mix(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = FoldTop((u ^ v) * factor);
  return FoldTop((v ^ a) * factor) * factor;
}

uint64_t OfUpTo16(const char* s, size_t n) {
  const uint64_t factor = kThird + n * 2;
  if (n >= 8) {
    const uint64_t a = Load64(s) + kThird;
    const uint64_t b = Load64(s + n - 8);
    return Mix(RotateRight(b, 37) * factor + a, (RotateRight(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return Mix(n + (Load32(s) << 3), Load32(s + n - 4), factor);
  if (n == 0) return kThird;
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(s[i]));
  };
  const uint32_t y = byte(0) + (byte(n >> 1) << 8);
  const uint32_t z = static_cast<uint32_t>(n) + (byte(n - 1) << 2);
  return FoldTop(y * kThird ^ z * kFirst) * kThird;
}

uint64_t OfUpTo32(const char* s, size_t n) {
  const uint64_t factor = kThird + n * 2;
  const uint64_t a = Load64(s) * kSecond;
  const uint64_t b = Load64(s + 8);
  const uint64_t c = Load64(s + n - 8) * factor;
  const uint64_t d = Load64(s + n - 16) * kThird;
  return Mix(RotateRight(a + b, 43) + RotateRight(c, 30) + d, a + RotateRight(b + kThird, 18) + c,
             factor);
}

uint64_t OfUpTo64(const char* s, size_t n) {
  const uint64_t factor = kThird + n * 2;
  const uint64_t a = Load64(s) * kThird;
  const uint64_t b = Load64(s + 8);
  const uint64_t c = Load64(s + n - 8) * factor;
  const uint64_t d = Load64(s + n - 16) * kThird;
  const uint64_t y = RotateRight(a + b, 43) + RotateRight(c, 30) + d;
  const uint64_t z = Mix(y, a + RotateRight(b + kThird, 18) + c, factor);
  const uint64_t e = Load64(s + 16) * factor;
  const uint64_t f = Load64(s + 24);
  const uint64_t g = (y + Load64(s + n - 32)) * factor;
  const uint64_t h = (z + Load64(s + n - 24)) * factor;
  return Mix(RotateRight(e + f, 43) + RotateRight(g, 30) + h, e + RotateRight(f + a, 18) + g,
             factor);
}

// Of 32 bytes and two numbers.
Pair Of32(const char* s, uint64_t a, uint64_t b) {
  const uint64_t last = Load64(s + 24);
  a += Load64(s);
  b = RotateRight(b + a + last, 21);
  const uint64_t c = a;
  a += Load64(s + 8) + Load64(s + 16);
  b += RotateRight(a, 44);
  return {a + last, b + c};
}

// --- SipHash ---

struct SipState {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v2 += v3;
    v1 = RotateLeft(v1, 13) ^ v0;
    v3 = RotateLeft(v3, 16) ^ v2;
    v0 = RotateLeft(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = RotateLeft(v1, 17) ^ v2;
    v3 = RotateLeft(v3, 21) ^ v0;
    v2 = RotateLeft(v2, 32);
  }
  void Take(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

}  // namespace

uint64_t Fingerprint64(std::string_view text) {
  const char* s = text.data();
  const size_t n = text.size();
  if (n <= 16) return OfUpTo16(s, n);
  if (n <= 32) return OfUpTo32(s, n);
  if (n <= 64) return OfUpTo64(s, n);
  constexpr uint64_t kSeed = 81;
  uint64_t y = kSeed * kSecond + 113;
  uint64_t z = FoldTop(y * kThird + 113) * kThird;
  uint64_t x = kSeed * kThird + Load64(s);
  Pair v{0, 0}, w{0, 0};
  const char* const end = s + (n - 1) / 64 * 64;
  const char* const last = end + ((n - 1) & 63) - 63;
  do {
    x = RotateRight(x + y + v.first + Load64(s + 8), 37) * kSecond;
    y = RotateRight(y + v.second + Load64(s + 48), 42) * kSecond;
    x ^= w.second;
    y += v.first + Load64(s + 40);
    z = RotateRight(z + w.first, 33) * kSecond;
    v = Of32(s, v.second * kSecond, x + w.first);
    w = Of32(s + 32, z + w.second, y + Load64(s + 16));
    std::swap(z, x);
    s += 64;
  } while (s != end);
  const uint64_t factor = kSecond + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  x = RotateRight(x + y + v.first + Load64(s + 8), 37) * factor;
  y = RotateRight(y + v.second + Load64(s + 48), 42) * factor;
  x ^= w.second * 9;
  y += v.first * 9 + Load64(s + 40);
  z = RotateRight(z + w.first, 33) * factor;
  v = Of32(s, v.second * factor, x + w.first);
  w = Of32(s + 32, z + w.second, y + Load64(s + 16));
  std::swap(z, x);
  return Mix(Mix(v.first, w.first, factor) + FoldTop(y) * kFirst + z,
             Mix(v.second, w.second, factor) + x, factor);
}

uint64_t SipHash(uint64_t key0, uint64_t key1, std::string_view text) {
  SipState state{key0 ^ 0x736f6d6570736575U, key1 ^ 0x646f72616e646f6dU, key0 ^ 0x6c7967656e657261U,
                 key1 ^ 0x7465646279746573U};
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) state.Take(Load64(text.data() + at));
  char rest[8] = {0};
  if (at < text.size()) std::memcpy(rest, text.data() + at, text.size() - at);
  state.Take(Load64(rest) | static_cast<uint64_t>(text.size()) << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace hopper
