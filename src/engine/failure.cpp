#include "engine/failure.h"

#include <c10/util/Exception.h>

#include <array>
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
  constexpr int64_t kLargest = 10 * 1024;
  if (bytes < kLargest) return std::to_string(bytes) + " bytes";
  int64_t halves = bytes >> 9;  // of a unit, to round by
  size_t unit = 0;
  while (halves >= 2 * kLargest - 1 && unit + 1 < kUnits.size()) {
    halves >>= 10;
    ++unit;
  }
  return std::to_string((halves + 1) / 2) + " " + kUnits[unit];
}

}  // namespace hopper
