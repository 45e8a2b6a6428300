// Nothing of C++ leaves the C functions: every body runs inside Guard().
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "base/cancel.h"
#include "base/error.h"
#include "model_hopper/basics.h"
#include "model_hopper/cancel.h"

namespace hopper {

// Copies as much of `text` as fits with its end; cut between characters of UTF-8.
template <size_t kSize>
void CopyText(const std::string& text, char (&out)[kSize]) {
  size_t n = text.size() < kSize ? text.size() : kSize - 1;
  if (n < text.size()) {
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  }
  std::memcpy(out, text.data(), n);
  out[n] = '\0';
}

inline void FillError(const Problem& problem, hopper_error* error) noexcept {
  if (error == nullptr) return;
  error->code = static_cast<int32_t>(problem.code);
  CopyText(problem.message, error->message);
  CopyText(problem.detail, error->detail);
  CopyText(problem.hint, error->hint);
}

// For the one case in which strings cannot be built any more.
inline void FillOutOfMemory(hopper_error* error) noexcept {
  if (error == nullptr) return;
  error->code = HOPPER_OUT_OF_MEMORY;
  CopyText("out of memory", error->message);
  error->detail[0] = '\0';
  error->hint[0] = '\0';
}

// Runs `body` and turns what it throws into a hopper_code and a filled error; 0 where it returns.
template <typename Body>
int Guard(hopper_error* error, Body body) noexcept {
  try {
    try {
      body();
      return HOPPER_OK;
    } catch (const Error& e) {
      FillError(e.problem(), error);
      return static_cast<int>(e.code());
    } catch (const Cancelled& e) {
      FillError({static_cast<ErrorCode>(HOPPER_CANCELLED), e.what(), "", ""}, error);
      return HOPPER_CANCELLED;
    } catch (const std::bad_alloc&) {
      FillOutOfMemory(error);
      return HOPPER_OUT_OF_MEMORY;
    } catch (const std::exception& e) {
      FillError({ErrorCode::kInternal, std::string("unexpected error: ") + e.what(), "",
                 "Please report this as a bug."},
                error);
    } catch (...) {
      FillError({ErrorCode::kInternal, "unexpected error", "", "Please report this as a bug."},
                error);
    }
    return HOPPER_INTERNAL;
  } catch (...) {
    FillOutOfMemory(error);
    return HOPPER_OUT_OF_MEMORY;
  }
}

}  // namespace hopper
