// UpSampling2D: an image of a multiple of its height and width.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct UpSampling2D : Layer {
  static constexpr const char* kName = "UpSampling2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "an image of a multiple of its height and width";

  explicit UpSampling2D(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  Passes PassesOn(const Shape& /*input*/) const override {
    return bilinear ? Passes::kNothing : Passes::kRows;
  }
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;

  std::vector<int64_t> size;
  bool bilinear = false;  // else each pixel is repeated
};
std::unique_ptr<Operator> MakeOperator(const UpSampling2D& layer);
ops::Value Export(const UpSampling2D& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
