// keras.ops.repeat() and tile(): each value several times, or all of an axis several times.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Repetition : Layer {
  static constexpr const char* kWeights = "";
  static constexpr const char* kSince = kOperationOnly;

  using Layer::Layer;
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  // How often along each axis of an example of this shape.
  virtual Shape TimesOf(const Shape& input) const = 0;
};
std::unique_ptr<Operator> MakeOperator(const Repetition& layer);
ops::Value Export(const Repetition& layer, const ExportCall& call);

// Each value along one axis.
struct Repeat : Repetition {
  static constexpr const char* kName = "Repeat";
  static constexpr const char* kDescription = "each value several times along an axis";

  explicit Repeat(LayerConfig& config);
  Shape TimesOf(const Shape& input) const override;

  int64_t times;
  int64_t axis = 0;
};

// All values along axes, of which the last one's number comes last.
struct Tile : Repetition {
  static constexpr const char* kName = "Tile";
  static constexpr const char* kDescription = "all values several times along axes";

  explicit Tile(LayerConfig& config);
  Shape TimesOf(const Shape& input) const override;

  std::vector<int64_t> times;
};

}  // namespace layers
}  // namespace hopper
