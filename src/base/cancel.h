// Looks at cancel in calls of the core on the server's main thread.
//
// What a caller writes (a list, a text, a table of configurations) may be as long as he likes, and
// the server ends no statement while the core computes. So what goes over such things asks between
// two of them whether the statement is to end.
#pragma once

#include <exception>

namespace hopper {

// Not an Error: what collects problems and goes on must not take it for one.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "the statement was cancelled"; }
};

// Not 0 where the statement is to end. It may be called at any time by the thread that calls the
// core, and only reads flags; null: nothing is asked.
using CancelQuestion = int (*)();
void AskForCancel(CancelQuestion question);

// Throws Cancelled where the statement is to end. A few nanoseconds; without effect in libraries
// that nobody gave a question, such as libhopper_torch.so, whose threads have flags of their own.
void LookAtCancel();

}  // namespace hopper
