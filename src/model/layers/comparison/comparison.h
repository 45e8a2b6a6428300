// x > number and its like: 1 where it is so and 0 elsewhere, without a gradient.
#pragma once

#include "model/layers/inputs.h"
#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Comparison : SameShape {
  static constexpr const char* kSince = kOperationOnly;
  static constexpr const char* kWeights = "";
  enum class Relation { kEqual, kGreater, kGreaterEqual, kLess, kLessEqual, kNotEqual };

  Comparison(LayerConfig& config, Relation which)
      : SameShape(config), relation(which), number(config.Number("number", 0.0)) {}

  Relation relation;
  double number;
};
std::unique_ptr<Operator> MakeOperator(const Comparison& layer);
ops::Value Export(const Comparison& layer, const ExportCall& call);

struct Equal : Comparison {
  static constexpr const char* kName = "Equal";
  static constexpr const char* kDescription = "whether values are a number";
  explicit Equal(LayerConfig& config) : Comparison(config, Relation::kEqual) {}
};
struct Greater : Comparison {
  static constexpr const char* kName = "Greater";
  static constexpr const char* kDescription = "whether values are above a number";
  explicit Greater(LayerConfig& config) : Comparison(config, Relation::kGreater) {}
};
struct GreaterEqual : Comparison {
  static constexpr const char* kName = "GreaterEqual";
  static constexpr const char* kDescription = "whether values are a number or above it";
  explicit GreaterEqual(LayerConfig& config) : Comparison(config, Relation::kGreaterEqual) {}
};
struct Less : Comparison {
  static constexpr const char* kName = "Less";
  static constexpr const char* kDescription = "whether values are below a number";
  explicit Less(LayerConfig& config) : Comparison(config, Relation::kLess) {}
};
struct LessEqual : Comparison {
  static constexpr const char* kName = "LessEqual";
  static constexpr const char* kDescription = "whether values are a number or below it";
  explicit LessEqual(LayerConfig& config) : Comparison(config, Relation::kLessEqual) {}
};
struct NotEqual : Comparison {
  static constexpr const char* kName = "NotEqual";
  static constexpr const char* kDescription = "whether values are another number";
  explicit NotEqual(LayerConfig& config) : Comparison(config, Relation::kNotEqual) {}
};

}  // namespace layers
}  // namespace hopper
