// CategoryEncoding and Discretization: numbers as one of several, or several of several.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

// What both do with whole numbers below `depth`.
struct Encoding {
  enum class Mode { kNumbers, kOneHot, kMultiHot, kCount };
  Mode mode = Mode::kMultiHot;
  int64_t depth = 1;

  Shape OutputShape(const Layer& layer, const Shape& input) const;
};

struct CategoryEncoding : Layer {
  static constexpr const char* kName = "CategoryEncoding";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "ids as one_hot, multi_hot or count";
  static constexpr bool kMakesIds = true;
  static constexpr const char* kSince = "2.6";

  explicit CategoryEncoding(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  // For an id that is not there; the message names the layer.
  [[noreturn]] void ThrowNoId(float id) const;

  Encoding encoding;
};
std::unique_ptr<Operator> MakeOperator(const CategoryEncoding& layer);
ops::Value Export(const CategoryEncoding& layer, const ExportCall& call);

// The number of the range between boundaries that a value lies in; one on a boundary belongs to the
// range behind it.
struct Discretization : Layer {
  static constexpr const char* kName = "Discretization";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "numbers as the ranges that they lie in";
  static constexpr bool kMakesIds = true;
  static constexpr const char* kSince = "2.6";

  explicit Discretization(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  std::vector<double> boundaries;  // ascending
  Encoding encoding;
};
std::unique_ptr<Operator> MakeOperator(const Discretization& layer);
ops::Value Export(const Discretization& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
