// Layers that make one tensor of several, element by element, broadcast as Keras' merge layers do.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Merge : Layer {
  enum class Kind { kAdd, kSubtract, kMultiply, kDivide, kAverage, kMaximum, kMinimum };

  Merge(LayerConfig& config, Kind how)
      : Layer(config), kind(how), joins_masks(config.family() == KerasFamily::kKeras2) {}
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;

  Kind kind;
  double scale = 1.0;  // kAdd: of all inputs but the first
  bool joins_masks;    // in Keras 2, all layers those that there are

 protected:
  Masking MergedMasks() const { return joins_masks ? Masking::kJoins : Masking::kMerges; }
};
std::unique_ptr<Operator> MakeOperator(const Merge& layer);
ops::Value Export(const Merge& layer, const ExportCall& call);

struct Add : Merge {
  static constexpr const char* kName = "Add";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "sum of inputs";
  explicit Add(LayerConfig& config) : Merge(config, Kind::kAdd) {}
  Masking masking() const override { return MergedMasks(); }
};
std::unique_ptr<PlannedOp> Plan(const Add& layer, PlanNode* node);

struct Average : Merge {
  static constexpr const char* kName = "Average";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "mean of inputs";
  explicit Average(LayerConfig& config) : Merge(config, Kind::kAverage) {}
  Masking masking() const override { return MergedMasks(); }
};

// Of keras.applications' InceptionResNetV2.
struct CustomScaleLayer : Merge {
  static constexpr const char* kName = "CustomScaleLayer";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "first input plus a multiple of the second";
  static constexpr const char* kSince = "2.12";
  explicit CustomScaleLayer(LayerConfig& config) : Merge(config, Kind::kAdd) {
    scale = config.Number("scale", 1.0);
    if (!config.Has("scale")) config.Missing("scale");
  }
};

// x / y, for which Keras has no layer.
struct Divide : Merge {
  static constexpr const char* kName = "Divide";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "quotient of two inputs";
  static constexpr const char* kSince = kOperationOnly;
  explicit Divide(LayerConfig& config) : Merge(config, Kind::kDivide) {}
};

struct Maximum : Merge {
  static constexpr const char* kName = "Maximum";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "largest of inputs";
  explicit Maximum(LayerConfig& config) : Merge(config, Kind::kMaximum) {}
  Masking masking() const override { return MergedMasks(); }
  bool reads_masks() const override { return !joins_masks; }
};

struct Minimum : Merge {
  static constexpr const char* kName = "Minimum";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "smallest of inputs";
  explicit Minimum(LayerConfig& config) : Merge(config, Kind::kMinimum) {}
  Masking masking() const override { return MergedMasks(); }
  bool reads_masks() const override { return !joins_masks; }
};

struct Multiply : Merge {
  static constexpr const char* kName = "Multiply";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "product of inputs";
  explicit Multiply(LayerConfig& config) : Merge(config, Kind::kMultiply) {}
  Masking masking() const override { return MergedMasks(); }
  bool reads_masks() const override { return !joins_masks; }
};

struct Subtract : Merge {
  static constexpr const char* kName = "Subtract";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "difference of two inputs";
  explicit Subtract(LayerConfig& config) : Merge(config, Kind::kSubtract) {}
  Masking masking() const override { return MergedMasks(); }
};

}  // namespace layers
}  // namespace hopper
