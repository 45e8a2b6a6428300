#include "engine/failure.h"

#include <c10/util/Exception.h>

#include <array>
#include <cstdio>
#include <new>

namespace hopper {

namespace {

Problem FromTorch(const std::string& text) {
  const size_t end = text.find('\n');
  Problem problem;
  problem.code = ErrorCode::kInternal;
  problem.message = "libtorch refused an operation: " + text.substr(0, end);
  if (end != std::string::npos) problem.detail = text;
  return problem;
}

Problem Describe() {
  try {
    throw;
  } catch (const c10::Error& e) {
    return FromTorch(e.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kOutOfMemory, "out of memory", "",
            "Lower batch_size, train fewer configurations at once, or lower hopper.threads."};
  } catch (...) {
    return DescribeCaught();
  }
}

}  // namespace

Problem DescribeException() noexcept {
  try {
    return Describe();
  } catch (...) {
    Problem problem;
    problem.code = ErrorCode::kOutOfMemory;
    problem.message = "out of memory";  // short enough to need none
    return problem;
  }
}

std::string BytesText(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes) / 1024.0;
  size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace hopper
