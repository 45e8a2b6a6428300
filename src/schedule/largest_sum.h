// The sum of the largest of some numbers that come and go. Each call takes a number of steps that
// grows with the logarithm of how many there are.
#pragma once

#include <cstdint>
#include <set>

namespace hopper {

class LargestSum {
 public:
  // Of the `n` largest, or of all where there are fewer; n >= 0.
  explicit LargestSum(int64_t n) : n_(n) {}

  void Add(int64_t number);
  // One of this number; nothing where there is none.
  void Remove(int64_t number);
  int64_t sum() const { return sum_; }
  // What the sum would be with so many more of this number.
  int64_t SumWith(int64_t number, int times) const;
  // Numbers that all calls have looked at, beside searches.
  int64_t looks() const { return looks_; }

 private:
  int64_t n_;
  int64_t sum_ = 0;
  std::multiset<int64_t> largest_;  // n_ at most
  std::multiset<int64_t> others_;   // none of them larger
  mutable int64_t looks_ = 0;
};

}  // namespace hopper
