#include "engine/torch/failure.h"

#include <c10/util/Exception.h>

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

Problem DescribeException() noexcept { return InWords(Describe); }

}  // namespace hopper
