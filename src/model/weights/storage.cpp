#include "model/weights/storage.h"

#include "base/pieces.h"
#include "model/spec.h"

namespace hopper {

namespace {

// out[c][r] = in[r][c]
void Transpose(const float* in, int64_t rows, int64_t columns, float* out) {
  const auto width = static_cast<size_t>(columns) * sizeof(float);
  InPieces(static_cast<size_t>(rows), width, [&](size_t first, size_t count) {
    const auto begin = static_cast<int64_t>(first);
    for (int64_t r = begin; r < begin + static_cast<int64_t>(count); ++r) {
      for (int64_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
    }
  });
}

// 1199882 as "1,199,882".
std::string Thousands(int64_t n) {
  std::string digits = std::to_string(n);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string WeightText(const WeightSpec& weight) {
  return "\"" + weight.name + "\" of shape " + ShapeText(weight.shape);
}

// What can be told from the number of values alone.
std::string CountDetail(const ModelSpec& spec, int64_t n) {
  // As many values as the trainable weights have: moving statistics were left out.
  if (n == spec.trainable_parameters) {
    for (const WeightSpec& weight : spec.weights) {
      if (weight.trainable) continue;
      return "The values are as many as the trainable weights have; the first weight that is not "
             "trainable is " +
             WeightText(weight) + ".";
    }
  }
  // One weight left out (a bias, say), or one written twice.
  const WeightSpec* match = nullptr;
  int matches = 0;
  for (const WeightSpec& weight : spec.weights) {
    if (weight.size() != spec.parameters - n) continue;
    if (matches++ == 0) match = &weight;
  }
  if (matches == 1) return "The difference is exactly weight " + WeightText(*match) + ".";
  if (n > spec.parameters) return "All weights of the model would be filled, and values are left.";
  int64_t end = 0;
  for (const WeightSpec& weight : spec.weights) {
    end += weight.size();
    if (end > n) return "The values end before weight " + WeightText(weight) + " is filled.";
  }
  return "";
}

}  // namespace

void LoadWeight(const WeightSpec& weight, const float* stored, float* keras) {
  if (weight.storage == WeightStorage::kConv) {
    const int64_t out = weight.shape.back();
    return Transpose(stored, out, weight.size() / out, keras);
  }
  CopyInPieces(keras, stored, sizeof(float) * static_cast<size_t>(weight.size()));
}

void StoreWeightPart(const WeightSpec& weight, int64_t first, const float* keras, int64_t n,
                     float* stored) {
  if (weight.storage != WeightStorage::kConv) {
    return CopyInPieces(stored + first, keras, sizeof(float) * static_cast<size_t>(n));
  }
  const int64_t columns = weight.shape.back();
  const int64_t rows = weight.size() / columns;
  InPieces(static_cast<size_t>(n), sizeof(float), [&](size_t begin, size_t count) {
    const auto from = static_cast<int64_t>(begin);
    int64_t row = (first + from) / columns;
    int64_t column = (first + from) % columns;
    for (int64_t i = from; i < from + static_cast<int64_t>(count); ++i) {
      stored[column * rows + row] = keras[i];
      if (++column < columns) continue;
      column = 0;
      ++row;
    }
  });
}

void ImportWeights(const ModelSpec& spec, const float* keras, float* flat) {
  ZeroInPieces(flat, sizeof(float) * static_cast<size_t>(spec.flat_size));
  for (const WeightSpec& weight : spec.weights) {
    StoreWeightPart(weight, 0, keras, weight.size(), flat + weight.offset);
    keras += weight.size();
  }
}

void ExportWeights(const ModelSpec& spec, const float* flat, float* keras) {
  for (const WeightSpec& weight : spec.weights) {
    LoadWeight(weight, flat + weight.offset, keras);
    keras += weight.size();
  }
}

StateLayout StateLayoutOf(const ModelSpec& spec) {
  StateLayout layout;
  layout.architecture = spec.hash;
  layout.flat_size = spec.flat_size;
  layout.slot_size = spec.slot_size;
  for (const WeightSpec& weight : spec.weights) {
    layout.weights.push_back({weight.offset, weight.size(), weight.slot_offset});
  }
  return layout;
}

void CheckWeightCount(const ModelSpec& spec, int64_t n) {
  if (n == spec.parameters) return;
  throw Error(ErrorCode::kInvalidParameter,
              "weights hold " + Thousands(n) + " values but the model has " +
                  Thousands(spec.parameters) + " parameters",
              CountDetail(spec, n),
              "Store the float32 values of all arrays of model.get_weights(), one after another.");
}

}  // namespace hopper
