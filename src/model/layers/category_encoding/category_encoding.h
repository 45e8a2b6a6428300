// CategoryEncoding and Discretization: numbers as one of several, or several of several.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

// What both do with whole numbers from `first` on, of which `depth` have a place.
struct Encoding {
  enum class Mode { kNumbers, kOneHot, kMultiHot, kCount };
  Mode mode = Mode::kMultiHot;
  int64_t depth = 1;
  int64_t first = 0;  // the least id that has a place; lower ones have none

  Shape OutputShape(const Layer& layer, const Shape& input) const;
};

// Reads "output_mode", which may be "int" where the class allows it.
Encoding::Mode ReadEncodingMode(LayerConfig& config, const char* fallback, bool may_be_numbers);

// Encodes ids, and refuses others than there are.
struct IdLayer : Layer {
  static constexpr const char* kWeights = "";
  static constexpr bool kMakesIds = true;
  static constexpr const char* kSince = "2.6";

  using Layer::Layer;
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  // For an id that is not there; the message names the layer.
  [[noreturn]] virtual void ThrowNoId(float id) const = 0;

  Encoding encoding;
};
std::unique_ptr<Operator> MakeOperator(const IdLayer& layer);
ops::Value Export(const IdLayer& layer, const ExportCall& call);

struct CategoryEncoding : IdLayer {
  static constexpr const char* kName = "CategoryEncoding";
  static constexpr const char* kDescription = "ids as one_hot, multi_hot or count";

  explicit CategoryEncoding(LayerConfig& config);
  [[noreturn]] void ThrowNoId(float id) const override;
};

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
