// Keras' constraints on weights (keras.constraints), applied after each update.
#pragma once

#include <cstdint>
#include <vector>

namespace hopper {

enum class ConstraintKind { kNone, kNonNeg, kMaxNorm, kUnitNorm, kMinMaxNorm };

struct ConstraintSpec {
  ConstraintKind kind = ConstraintKind::kNone;
  double min = 0.0;
  double max = 0.0;
  double rate = 1.0;          // of a step towards the norm that is wanted
  std::vector<int64_t> axes;  // of the weight as Keras has it: those that a norm sums over
};

// Added to a norm that divides, as Keras' backend.epsilon().
constexpr float kNormEpsilon = 1e-7F;

// One that is bound to a weight of a flat buffer.
class Constraint {
 public:
  // `sizes` and `strides` are those of the weight's axes.
  Constraint(ConstraintSpec spec, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& strides);

  // Changes the weight at `w`; the bits do not depend on how its floats lie.
  void Apply(float* w) const;

 private:
  struct Axis {
    int64_t size;
    int64_t norm;  // from one norm to the next along this axis; 0 where it sums over it
  };
  template <typename Change>
  void ForEach(const Change& change) const;

  ConstraintSpec spec_;
  std::vector<Axis> axes_;  // from the outermost in memory to the innermost
  int64_t norms_ = 1;
};

}  // namespace hopper
