// Hashes of texts that other programs compute, too: Keras' preprocessing layers number values by
// them.
#pragma once

#include <cstdint>
#include <string_view>

namespace hopper {

// FarmHash's Fingerprint64 (https://github.com/google/farmhash), which is fixed for all time.
uint64_t Fingerprint64(std::string_view text);

// SipHash-2-4 (Aumasson and Bernstein, 2012) under a key of two words.
uint64_t SipHash(uint64_t key0, uint64_t key1, std::string_view text);

}  // namespace hopper
