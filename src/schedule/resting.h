// Models that rest and keep memory, in their order: who gives way where another one needs room.
// Each call takes a number of steps that grows with the logarithm of how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

namespace hopper {

class RestingModels {
 public:
  void Set(size_t model, bool rests);
  bool Contains(size_t model) const { return models_.count(model) != 0; }
  // The first one that is not `model`; -1: there is none.
  int64_t FirstBeside(size_t model) const;
  // Models that all calls have looked at, beside searches.
  int64_t looks() const { return looks_; }

 private:
  std::set<size_t> models_;
  mutable int64_t looks_ = 0;
};

}  // namespace hopper
