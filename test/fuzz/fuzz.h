// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"

namespace hopper {

// The input's parts, one number or text after another; zeros behind its end.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  template <typename T>
  T Get() {
    T value = 0;
    const size_t n = sizeof(T) < Left() ? sizeof(T) : Left();
    std::memcpy(&value, at_, n);
    at_ += n;
    return value;
  }
  size_t Left() const { return static_cast<size_t>(end_ - at_); }
  const uint8_t* at() const { return at_; }
  std::string Rest() {
    std::string text(reinterpret_cast<const char*>(at_), Left());
    at_ = end_;
    return text;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// Runs `work`; an Error is an answer, every other exception is a finding. Of an answer the message
// must be one that a user can read.
template <typename Work>
void Try(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    const Problem& problem = error.problem();
    if (problem.code != ErrorCode::kInternal && !problem.message.empty()) return;
    std::fprintf(stderr, "unexpected error: %s\n", problem.message.c_str());
    std::abort();
  }
}

inline void Expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "expected: %s\n", what);
  std::abort();
}

}  // namespace hopper
