// The C boundary of both libraries: every function's body runs inside Guard(), so that nothing of
// C++ leaves it.
#pragma once

#include <cstring>

#include "base/cancel.h"
#include "base/error.h"
#include "base/field_text.h"
#include "model_hopper/basics.h"
#include "model_hopper/cancel.h"

namespace hopper {

// `error` may be null.
inline void FillError(const Problem& problem, hopper_error* error) noexcept {
  if (error == nullptr) return;
  error->code = static_cast<int32_t>(problem.code);
  CopyText(problem.message, error->message);
  CopyText(problem.detail, error->detail);
  CopyText(problem.hint, error->hint);
}

// For the one case in which strings cannot be built any more.
inline int FillOutOfMemory(hopper_error* error) noexcept {
  if (error != nullptr) {
    *error = hopper_error{};
    error->code = HOPPER_OUT_OF_MEMORY;
    std::memcpy(error->message, "out of memory", sizeof("out of memory"));
  }
  return HOPPER_OUT_OF_MEMORY;
}

// Runs `body` and turns what it throws into a hopper_code and a filled error; 0 where it returns.
// `describe` puts the exception that is being handled into words.
template <typename Body>
int Guard(hopper_error* error, const Body& body, Problem (*describe)() = DescribeCaught) noexcept {
  try {
    body();
    return HOPPER_OK;
  } catch (const Cancelled& e) {
    FillError({static_cast<ErrorCode>(HOPPER_CANCELLED), e.what(), "", ""}, error);
    return HOPPER_CANCELLED;
  } catch (...) {
    try {
      const Problem problem = describe();
      FillError(problem, error);
      return static_cast<int>(problem.code);
    } catch (...) {
      return FillOutOfMemory(error);
    }
  }
}

}  // namespace hopper
