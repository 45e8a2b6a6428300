// x > number, x > y and their like: 1 where it is so and 0 elsewhere, without a gradient.
#pragma once

#include "model/layers/inputs.h"
#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

// Of its input and the number, or of two inputs.
struct Comparison : Layer {
  static constexpr const char* kSince = kOperationOnly;
  static constexpr const char* kWeights = "";
  enum class Relation {
    kBoth,  // neither is 0
    kEither,
    kEqual,
    kGreater,
    kGreaterEqual,
    kLess,
    kLessEqual,
    kNotEqual
  };

  Comparison(LayerConfig& config, Relation which)
      : Layer(config), relation(which), number(config.Number("number", 0.0)) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  Relation relation;
  double number;
};
std::unique_ptr<Operator> MakeOperator(const Comparison& layer);
ops::Value Export(const Comparison& layer, const ExportCall& call);

struct Equal : Comparison {
  static constexpr const char* kName = "Equal";
  static constexpr const char* kDescription = "whether values are equal";
  explicit Equal(LayerConfig& config) : Comparison(config, Relation::kEqual) {}
};
struct Greater : Comparison {
  static constexpr const char* kName = "Greater";
  static constexpr const char* kDescription = "whether values are above others";
  explicit Greater(LayerConfig& config) : Comparison(config, Relation::kGreater) {}
};
struct GreaterEqual : Comparison {
  static constexpr const char* kName = "GreaterEqual";
  static constexpr const char* kDescription = "whether values are others or above them";
  explicit GreaterEqual(LayerConfig& config) : Comparison(config, Relation::kGreaterEqual) {}
};
struct Less : Comparison {
  static constexpr const char* kName = "Less";
  static constexpr const char* kDescription = "whether values are below others";
  explicit Less(LayerConfig& config) : Comparison(config, Relation::kLess) {}
};
struct LessEqual : Comparison {
  static constexpr const char* kName = "LessEqual";
  static constexpr const char* kDescription = "whether values are others or below them";
  explicit LessEqual(LayerConfig& config) : Comparison(config, Relation::kLessEqual) {}
};
struct LogicalAnd : Comparison {
  static constexpr const char* kName = "LogicalAnd";
  static constexpr const char* kDescription = "whether two values are not 0";
  explicit LogicalAnd(LayerConfig& config) : Comparison(config, Relation::kBoth) {}
};
struct LogicalOr : Comparison {
  static constexpr const char* kName = "LogicalOr";
  static constexpr const char* kDescription = "whether one of two values is not 0";
  explicit LogicalOr(LayerConfig& config) : Comparison(config, Relation::kEither) {}
};
struct NotEqual : Comparison {
  static constexpr const char* kName = "NotEqual";
  static constexpr const char* kDescription = "whether values differ";
  explicit NotEqual(LayerConfig& config) : Comparison(config, Relation::kNotEqual) {}
};

}  // namespace layers
}  // namespace hopper
