// Looks at cancel in what may take long.
//
// What a caller writes (a list, a text, a table of configurations) may be as long as he likes, and
// so may a state; the server ends no statement while the core computes. So what goes over such
// things asks between two of them whether the statement is to end: on the server's main thread by a
// question, on a worker's by the flag of what it works for. base/pieces.h does so over bytes.
#pragma once

#include <atomic>
#include <exception>

namespace hopper {

// Not an Error: what collects problems and goes on must not take it for one.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "the statement was cancelled"; }
};

// Not 0 where the statement is to end. It may be called at any time by the thread that gave it,
// which calls the core, and only reads flags; null: nothing is asked.
using CancelQuestion = int (*)();
void AskForCancel(CancelQuestion question);

// While it lives, LookAtCancel() on the calling thread looks at `flag`, too.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>& flag);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  const std::atomic<bool>* const before_;
};

// Throws Cancelled where the statement is to end. A few nanoseconds; without effect on threads that
// have neither a question nor a flag.
void LookAtCancel();

// For tests: called with each look, on its thread. Null: none.
void ObserveLooks(void (*observer)());

}  // namespace hopper
