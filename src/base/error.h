// Errors of the core: one exception type with a code, a message, a detail and a hint.
//
// Messages follow PostgreSQL's style: lower case, no full stop, names of the user's objects in
// double quotes. A detail is a sentence, a hint an action. The glue maps codes to SQLSTATEs.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model_hopper/basics.h"

namespace hopper {

// One code per SQLSTATE that the core can cause; the values are those of the C boundary.
enum class ErrorCode : int {
  kInvalidParameter = HOPPER_INVALID_PARAMETER,  // 22023
  kInvalidText = HOPPER_INVALID_TEXT,            // 22P02: does not parse
  kDataException = HOPPER_DATA_EXCEPTION,        // 22000
  kNotSupported = HOPPER_NOT_SUPPORTED,          // 0A000
  kLimitExceeded = HOPPER_LIMIT_EXCEEDED,        // 54000
  kOutOfMemory = HOPPER_OUT_OF_MEMORY,           // 53200
  kNotReady = HOPPER_NOT_READY,                  // 55000
  kCorrupt = HOPPER_CORRUPT,                     // XX001
  kDevice = HOPPER_DEVICE,                       // 58000
  kInternal = HOPPER_INTERNAL,                   // XX000
};

// A finding about the user's input. Validators append problems and go on, so that one error can
// name all of them.
struct Problem {
  ErrorCode code = ErrorCode::kInvalidParameter;
  std::string message;
  std::string detail;
  std::string hint;
};

class Error : public std::runtime_error {
 public:
  explicit Error(Problem problem)
      : std::runtime_error(problem.message), problem_(std::move(problem)) {}
  Error(ErrorCode code, std::string message, std::string detail = "", std::string hint = "")
      : Error(Problem{code, std::move(message), std::move(detail), std::move(hint)}) {}

  const Problem& problem() const { return problem_; }
  ErrorCode code() const { return problem_.code; }

 private:
  Problem problem_;
};

// The candidate nearest to `name` by edit distance, where it is near enough to be a likely
// slip of the keyboard; the comparison ignores case.
std::optional<std::string> NearestName(const std::string& name,
                                       const std::vector<std::string>& candidates);

// What other tools call a thing that has another name here: in lower case without "_" and "-".
struct OtherName {
  const char* theirs;
  std::vector<std::string> ours;
};
using OtherNames = std::vector<OtherName>;

// 'Perhaps you meant "x".', or "" where no candidate is near. A name of other tools comes before
// one that is spelt alike.
std::string NearestNameHint(const std::string& name, const std::vector<std::string>& candidates,
                            const OtherNames& others = {});

// The exception that is being handled; to be called in a catch block. Throws where there is no
// memory for the words.
Problem DescribeCaught();
// What `describe` answers; "out of memory" where there is no memory for its words.
Problem InWords(Problem (*describe)()) noexcept;

// One problem in place of several (at least one): the first, with the list of all in its detail.
Problem SummaryOf(const std::vector<Problem>& problems);

}  // namespace hopper
