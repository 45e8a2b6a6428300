// Models that can be worked on side by side: those that are due, by what they are due for. Each
// call takes a number of steps that grows with the logarithm of how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hopper {

class Companions {
 public:
  // The model is due for work of that kind, and for no other.
  void Set(size_t model, const std::string& kind);
  void Remove(size_t model);
  // The first one of that kind behind the place `after` (-1: of all); -1: there is none.
  int64_t NextOf(const std::string& kind, int64_t after) const;
  // Models that all calls have looked at, beside searches.
  int64_t looks() const { return looks_; }

 private:
  std::map<std::string, std::set<size_t>> due_;
  std::vector<std::string> kinds_;  // by model; empty: it is not due
  mutable int64_t looks_ = 0;
};

}  // namespace hopper
