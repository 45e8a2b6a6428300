// Initial weights in pieces that any threads compute in any order.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "model/spec.h"

namespace hopper {

// The values are those of InitializeWeights(): each is a function of (seed, weight, element) only.
// Immutable.
class WeightInitializer {
 public:
  WeightInitializer(const ModelSpec& spec, uint64_t seed);

  int64_t pieces() const { return static_cast<int64_t>(pieces_.size()); }
  // Writes one piece into the parameter buffer, whose padding must be zero already. Some
  // milliseconds' work, but for Orthogonal, which looks at `cancel` every now and then: false where
  // that ended it.
  bool Fill(int64_t piece, const std::atomic<bool>& cancel, float* flat) const;

  // Equal where all values are, and where they lie.
  static std::string Key(const ModelSpec& spec, uint64_t seed);

 private:
  struct Piece {
    int weight = 0;
    int64_t first = 0;  // elements in C order of Keras' shape
    int64_t last = 0;
  };
  const std::vector<WeightSpec> weights_;
  const uint64_t seed_;
  std::vector<Piece> pieces_;
};

}  // namespace hopper
