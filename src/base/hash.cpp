#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hopper {
namespace {

Digest Canonical(XXH128_hash_t hash) {
  static_assert(sizeof(XXH128_canonical_t) == sizeof(Digest::bytes), "128 bits");
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Digest digest;
  for (size_t i = 0; i < digest.bytes.size(); ++i) digest.bytes[i] = canonical.digest[i];
  return digest;
}

}  // namespace

std::string Digest::Hex() const {
  static const char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

Digest Hash(const void* data, size_t size, uint64_t seed) {
  return Canonical(XXH3_128bits_withSeed(data, size, seed));
}

static_assert(sizeof(XXH3_state_t) <= 576 && alignof(XXH3_state_t) <= 64, "has room");

Hasher::Hasher(uint64_t seed) {
  XXH3_128bits_reset_withSeed(reinterpret_cast<XXH3_state_t*>(state_.data()), seed);
}

void Hasher::Add(const void* data, size_t size) {
  // The library treats NULL as an error even where nothing is to be added.
  if (size == 0) return;
  XXH3_128bits_update(reinterpret_cast<XXH3_state_t*>(state_.data()), data, size);
}

Digest Hasher::Finish() const {
  return Canonical(XXH3_128bits_digest(reinterpret_cast<const XXH3_state_t*>(state_.data())));
}

}  // namespace hopper
