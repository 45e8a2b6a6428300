#include "model/weights/import.h"

#include <algorithm>

#include "base/finite.h"
#include "base/pieces.h"
#include "model/weights/storage.h"

namespace hopper {

namespace {

[[noreturn]] void RefuseNotFinite(const ModelSpec& spec, int64_t at) {
  int64_t end = 0;
  for (const WeightSpec& weight : spec.weights) {
    end += weight.size();
    if (at >= end) continue;
    throw Error(ErrorCode::kInvalidParameter,
                "weight \"" + weight.name + "\" holds values that are not finite", "",
                "Load weights without NaN and infinity.");
  }
  throw Error(ErrorCode::kInternal, "a model has fewer weights than came");
}

}  // namespace

void CheckWeightsPart(const ModelSpec& spec, int64_t first, const float* keras, int64_t n) {
  const int64_t at = FirstNotFinite(keras, n);
  if (at < n) RefuseNotFinite(spec, first + at);
}

void CheckWeights(const ModelSpec& spec, const float* keras, int64_t n) {
  CheckWeightCount(spec, n);
  if (keras != nullptr) CheckWeightsPart(spec, 0, keras, n);
}

WeightsImport::WeightsImport(const ModelSpec& spec, int64_t n, float* flat)
    : spec_(&spec), flat_(flat) {
  CheckWeightCount(*spec_, n);
  ZeroInPieces(flat, sizeof(float) * static_cast<size_t>(spec_->flat_size));
}

void WeightsImport::Add(const float* keras, int64_t n) {
  if (n < 0 || n > spec_->parameters - come_) {
    throw Error(ErrorCode::kInternal, "more weights came than the model has");
  }
  CheckWeightsPart(*spec_, come_, keras, n);
  come_ += n;
  while (n > 0) {
    const WeightSpec& weight = spec_->weights[weight_];
    const int64_t some = std::min(n, weight.size() - at_);
    StoreWeightPart(weight, at_, keras, some, flat_ + weight.offset);
    keras += some;
    n -= some;
    at_ += some;
    if (at_ < weight.size()) continue;
    at_ = 0;
    ++weight_;
  }
}

}  // namespace hopper
