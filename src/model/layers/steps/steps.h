// Layers that add, drop or repeat steps of a series of steps x features.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct ZeroPadding1D : Layer {
  static constexpr const char* kName = "ZeroPadding1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "zeros before and after a series";
  explicit ZeroPadding1D(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  std::vector<int64_t> padding;  // before, after
};
std::unique_ptr<Operator> MakeOperator(const ZeroPadding1D& layer);
ops::Value Export(const ZeroPadding1D& layer, const ExportCall& call);

struct Cropping1D : Layer {
  static constexpr const char* kName = "Cropping1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "a series without its first and last steps";
  explicit Cropping1D(LayerConfig& config);
  Passes PassesOn(const Shape& /*input*/) const override { return Passes::kRows; }
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  std::vector<int64_t> cropping;  // before, after
};
std::unique_ptr<Operator> MakeOperator(const Cropping1D& layer);
ops::Value Export(const Cropping1D& layer, const ExportCall& call);

struct UpSampling1D : Layer {
  static constexpr const char* kName = "UpSampling1D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "each step of a series several times";
  explicit UpSampling1D(LayerConfig& config);
  Passes PassesOn(const Shape& /*input*/) const override { return Passes::kRows; }
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  int64_t size;
};
std::unique_ptr<Operator> MakeOperator(const UpSampling1D& layer);
ops::Value Export(const UpSampling1D& layer, const ExportCall& call);

struct RepeatVector : Layer {
  static constexpr const char* kName = "RepeatVector";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "a series of the same values at each step";
  explicit RepeatVector(LayerConfig& config);
  Passes PassesOn(const Shape& /*input*/) const override { return Passes::kRows; }
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  int64_t n;
};
std::unique_ptr<Operator> MakeOperator(const RepeatVector& layer);
ops::Value Export(const RepeatVector& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
