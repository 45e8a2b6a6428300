// Work over as many bytes as a model's state has, in pieces with a look at cancel between them.
//
// Gigabytes take seconds to copy, to sum up or even to be zeroed: what does so goes through here,
// whichever thread it is on. A piece takes some ten milliseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/aligned.h"
#include "base/cancel.h"
#include "base/hash.h"

namespace hopper {

constexpr size_t kPieceBytes = size_t{16} << 20;

// Calls body(first, count) for pieces of 0 .. n - 1, elements of `width` bytes each.
template <typename Body>
void InPieces(size_t n, size_t width, const Body& body) {
  const size_t most = std::max<size_t>(kPieceBytes / std::max<size_t>(width, 1), 1);
  for (size_t first = 0; first < n; first += most) {
    if (first > 0) LookAtCancel();
    body(first, std::min(most, n - first));
  }
  constexpr size_t kWorthALook = 4096;  // or many that are smaller than a piece would have none
  if (n * width >= kWorthALook) LookAtCancel();
}

inline void CopyInPieces(void* to, const void* from, size_t bytes) {
  InPieces(bytes, 1, [&](size_t first, size_t count) {
    std::memcpy(static_cast<uint8_t*>(to) + first, static_cast<const uint8_t*>(from) + first,
                count);
  });
}

// AlignedArray::Clone(), which is for less.
inline AlignedArray<float> CloneInPieces(const AlignedArray<float>& array) {
  AlignedArray<float> copy(array.size());
  CopyInPieces(copy.data(), array.data(), array.size() * sizeof(float));
  return copy;
}

// Appends bytes that fill(at, count) writes; what was zeroed for it is still near then. Room is
// made for all of them first: growing would hold them twice.
template <typename Fill>
void AppendInPieces(size_t bytes, std::vector<uint8_t>* to, const Fill& fill) {
  to->reserve(to->size() + bytes);
  InPieces(bytes, 1, [&](size_t, size_t count) {
    const size_t at = to->size();
    to->resize(at + count);
    fill(to->data() + at, count);
  });
}

inline void ZeroInPieces(void* at, size_t bytes) {
  InPieces(bytes, 1, [&](size_t first, size_t count) {
    std::memset(static_cast<uint8_t*>(at) + first, 0, count);
  });
}

inline void AddInPieces(const void* data, size_t bytes, Hasher* hasher) {
  InPieces(bytes, 1, [&](size_t first, size_t count) {
    hasher->Add(static_cast<const uint8_t*>(data) + first, count);
  });
}

// Hash(), which is for less.
inline Digest HashInPieces(const void* data, size_t bytes, uint64_t seed = 0) {
  Hasher hasher(seed);
  AddInPieces(data, bytes, &hasher);
  return hasher.Finish();
}

}  // namespace hopper
