// Heap memory aligned to 64 bytes: a cache line, and what vector kernels want.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "base/blocks.h"

namespace hopper {

// Owns `size` elements of a trivial type, zero-filled. Move-only; copy with Clone().
template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(size_t size) : size_(size) {
    if (size == 0) return;
    if (size > kMaxSize) throw std::bad_alloc();
    const size_t bytes = (size * sizeof(T) + 63) / 64 * 64;
    bool zeroed = false;
    data_ = static_cast<T*>(AllocateBlock(bytes, &zeroed));
    if (!zeroed) std::memset(data_, 0, bytes);
  }
  ~AlignedArray() { FreeBlock(data_, (size_ * sizeof(T) + 63) / 64 * 64); }
  AlignedArray(AlignedArray&& other) noexcept { Swap(other); }
  AlignedArray& operator=(AlignedArray&& other) noexcept {
    AlignedArray moved(std::move(other));
    Swap(moved);
    return *this;
  }
  AlignedArray(const AlignedArray&) = delete;
  AlignedArray& operator=(const AlignedArray&) = delete;

  AlignedArray Clone() const {
    AlignedArray copy(size_);
    if (size_ != 0) std::memcpy(copy.data_, data_, size_ * sizeof(T));
    return copy;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  static constexpr size_t kMaxSize = (size_t{1} << 62) / sizeof(T);

  void Swap(AlignedArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hopper
