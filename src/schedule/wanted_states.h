// Which stored state is to come next. Models that wait for memory are looked at once before they
// are admitted, and come before the others. One that is not wanted any more is dropped when it is
// met, so that a question looks at each that was added once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

namespace hopper {

class WantedStates {
 public:
  // By model, 0 .. n - 1; in the order of the calls.
  void AddToCheck(size_t model) { to_check_.push_back(model); }
  void AddAdmitted(size_t model) { admitted_.push_back(model); }
  // The first that is still wanted, which stays; -1: none is. `wanted(model, admitted)` says
  // whether its state is missing, as that of an admitted one or to be looked at.
  int64_t Next(const std::function<bool(size_t model, bool admitted)>& wanted);
  // What all calls have looked at.
  int64_t looks() const { return looks_; }

 private:
  std::deque<size_t> to_check_;
  std::deque<size_t> admitted_;
  int64_t looks_ = 0;
};

}  // namespace hopper
