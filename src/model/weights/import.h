// Weights from outside into the parameter buffer, a piece at a time.
#pragma once

#include <cstdint>

#include "model/spec.h"

namespace hopper {

// Throws the users' message where one of `n` floats, which follow `first` others of get_weights(),
// is NaN or infinite. Looks at cancel.
void CheckWeightsPart(const ModelSpec& spec, int64_t first, const float* keras, int64_t n);

// ImportWeights() and CheckWeights() of floats that come in pieces of any size, in the order of
// Keras' get_weights().
class WeightsImport {
 public:
  // Zeroes `flat` (spec.flat_size floats); both must outlive the import. Throws the users' message
  // where `n` floats in all do not fill the model.
  WeightsImport(const ModelSpec& spec, int64_t n, float* flat);

  // Throws the users' message where one of them is not finite, kInternal where they are too many.
  void Add(const float* keras, int64_t n);
  bool complete() const { return come_ == spec_->parameters; }

 private:
  const ModelSpec* spec_;
  float* flat_;
  int64_t come_ = 0;   // floats of all weights
  size_t weight_ = 0;  // that the next one belongs to
  int64_t at_ = 0;     // its place in this
};

}  // namespace hopper
