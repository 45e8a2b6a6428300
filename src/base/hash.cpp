#include "base/hash.h"

#include <new>

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

Hasher::Hasher(uint64_t seed) : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset_withSeed(static_cast<XXH3_state_t*>(state_), seed);
}

Hasher::~Hasher() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void Hasher::Add(const void* data, size_t size) {
  // The library treats NULL as an error even where nothing is to be added.
  if (size == 0) return;
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), data, size);
}

Digest Hasher::Finish() const {
  return Canonical(XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_)));
}

}  // namespace hopper
