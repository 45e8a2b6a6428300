// The C boundary of both libraries: every function's body runs inside Guard(), so that nothing of
// C++ leaves it.
#pragma once

#include <string_view>

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

// Takes no memory, so that it can be said whatever has failed. Returns `code`.
inline int FillPlain(int code, std::string_view message, hopper_error* error) noexcept {
  if (error != nullptr) {
    *error = hopper_error{};
    error->code = code;
    CopyText(message, error->message);
  }
  return code;
}

// Runs `body` and turns what it throws into a hopper_code and a filled error; 0 where it returns.
// `describe` puts the exception that is being handled into words.
template <typename Body, typename Describe = Problem (*)()>
int Guard(hopper_error* error, const Body& body,
          const Describe& describe = DescribeCaught) noexcept {
  try {
    body();
    return HOPPER_OK;
  } catch (const Cancelled& e) {
    return FillPlain(HOPPER_CANCELLED, e.what(), error);
  } catch (...) {
    try {
      const Problem problem = describe();
      FillError(problem, error);
      return static_cast<int>(problem.code);
    } catch (...) {
      return FillPlain(HOPPER_OUT_OF_MEMORY, "out of memory", error);
    }
  }
}

template <typename... Pointers>
void RequireAll(const Pointers*... pointers) {
  const bool missing = ((pointers == nullptr) || ...);
  if (missing) {
    throw Error(ErrorCode::kInternal, "a required argument is missing");
  }
}

// Functions that answer 1 (yes), 0 (not yet) or -1 (*error).
template <typename Body, typename Describe = Problem (*)()>
int Ask(hopper_error* error, const Body& body, const Describe& describe = DescribeCaught) noexcept {
  bool answer = false;
  const int code = Guard(
      error, [&] { answer = body(); }, describe);
  return code != HOPPER_OK ? -1 : static_cast<int>(answer);
}

}  // namespace hopper
