// Bounds-checked little-endian reading and writing of flat images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace hopper {

class ByteWriter {
 public:
  template <typename T>
  void Put(T value) {
    static_assert(std::is_arithmetic_v<T>, "numbers only");
    PutBytes(&value, sizeof(value));
  }
  void PutBytes(const void* data, size_t size) {
    const auto* p = static_cast<const uint8_t*>(data);
    out_.insert(out_.end(), p, p + size);
  }
  // 32-bit length, then the bytes.
  void PutString(std::string_view s) {
    Put<uint32_t>(static_cast<uint32_t>(s.size()));
    PutBytes(s.data(), s.size());
  }
  void Reserve(size_t size) { out_.reserve(size); }
  size_t size() const { return out_.size(); }
  const uint8_t* data() const { return out_.data(); }
  std::vector<uint8_t> Take() { return std::move(out_); }

 private:
  std::vector<uint8_t> out_;
};

// Reads what ByteWriter wrote; running past the end is an Error(kCorrupt) that names `what`.
class ByteReader {
 public:
  ByteReader(const void* data, size_t size, std::string what)
      : p_(static_cast<const uint8_t*>(data)), end_(p_ + size), what_(std::move(what)) {}

  template <typename T>
  T Get() {
    static_assert(std::is_arithmetic_v<T>, "numbers only");
    T value;
    GetBytes(&value, sizeof(value));
    return value;
  }
  void GetBytes(void* out, size_t size) { std::memcpy(out, View(size), size); }
  const uint8_t* View(size_t size) {
    if (size > remaining()) {
      throw Error(ErrorCode::kCorrupt, what_ + " is truncated");
    }
    const uint8_t* at = p_;
    p_ += size;
    return at;
  }
  std::string GetString() {
    const auto n = Get<uint32_t>();
    const auto* at = View(n);
    return {reinterpret_cast<const char*>(at), n};
  }
  size_t remaining() const { return static_cast<size_t>(end_ - p_); }

 private:
  const uint8_t* p_;
  const uint8_t* end_;
  std::string what_;
};

}  // namespace hopper
