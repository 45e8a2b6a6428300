// Which model is next: of those that are ready, the one with the most work left whose task there is
// room for. Setting and asking take a number of steps that grows with the logarithm of the models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopper {

class ReadyModels {
 public:
  // By model, 0 .. n - 1: what its task takes, in any unit. Nobody is ready yet.
  explicit ReadyModels(const std::vector<int64_t>& needs);

  // One more model, the last one; it is not ready yet. Takes steps by the number of models.
  void Add(int64_t needs);
  // The model is ready, with so much work left.
  void Set(size_t model, double work);
  void Remove(size_t model);
  bool Contains(size_t model) const { return ready_[place_[model]]; }
  // The ready model with the most work, the first of equals, that needs no more than `room`;
  // -1: there is none.
  int64_t Best(int64_t room) const;
  // What all calls have looked at.
  int64_t looks() const { return looks_; }

 private:
  static constexpr int32_t kNobody = -1;
  int32_t Better(int32_t a, int32_t b) const;
  void Update(size_t place);

  std::vector<int64_t> needs_;   // ascending, by place
  std::vector<size_t> place_;    // by model: where it is in the order of needs
  std::vector<size_t> model_;    // by place
  std::vector<double> work_;     // by place
  std::vector<bool> ready_;      // by place
  size_t leaves_ = 1;            // a power of two
  std::vector<int32_t> winner_;  // of a tournament: 1 is the root, leaves_ + place a leaf
  mutable int64_t looks_ = 0;
};

}  // namespace hopper
