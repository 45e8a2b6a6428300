// 128-bit content hash: XXH3 of the xxHash library (stable across platforms and versions).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace hopper {

// Sixteen bytes in xxHash's canonical (big-endian) order, so that byte-wise comparison orders
// digests alike on every machine.
struct Digest {
  std::array<uint8_t, 16> bytes{};
  bool operator==(const Digest& other) const { return bytes == other.bytes; }
  bool operator!=(const Digest& other) const { return bytes != other.bytes; }
  bool operator<(const Digest& other) const { return bytes < other.bytes; }
  std::string Hex() const;  // 32 lower-case hexadecimal digits
};

Digest Hash(const void* data, size_t size, uint64_t seed = 0);

// Hash of data that arrives in pieces; equal to Hash() of the concatenation. Needs no memory.
class Hasher {
 public:
  explicit Hasher(uint64_t seed = 0);
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void Add(const void* data, size_t size);
  Digest Finish() const;

 private:
  alignas(64) std::array<unsigned char, 576> state_{};  // the library's
};

}  // namespace hopper
