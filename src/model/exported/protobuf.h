// Messages in the wire format of protocol buffers, https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace hopper {

class Message {
 public:
  void Int(int field, int64_t value) {
    bytes_ += Varint(static_cast<uint64_t>(field) << 3U);
    bytes_ += Varint(static_cast<uint64_t>(value));
  }
  void Float(int field, float value) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes_ += Varint(static_cast<uint64_t>(field) << 3U | 5U);
    bytes_.append(raw, sizeof(raw));
  }
  void Double(int field, double value) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes_ += Varint(static_cast<uint64_t>(field) << 3U | 1U);
    bytes_.append(raw, sizeof(raw));
  }
  void Bytes(int field, std::string_view value) {
    Begin(field, value.size());
    bytes_ += value;
  }
  void Put(int field, const Message& message) { Bytes(field, message.bytes_); }
  // A field of so many bytes, which are to follow.
  void Begin(int field, size_t size) { bytes_ += Header(field, size); }

  static std::string Header(int field, size_t size) {
    return Varint(static_cast<uint64_t>(field) << 3U | 2U) + Varint(size);
  }

  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  static std::string Varint(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80U; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
    bytes += static_cast<char>(value);
    return bytes;
  }

  std::string bytes_;
};

}  // namespace hopper
