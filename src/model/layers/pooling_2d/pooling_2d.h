// MaxPooling2D and AveragePooling2D over images of height x width x channels.
#pragma once

#include "model/layers/window.h"

namespace hopper {
namespace layers {

struct Pooling2D : Layer {
  // One axis: a series, which is an image of height 1.
  Pooling2D(LayerConfig& config, bool maximum, size_t axes = 2);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;

  // Of the window along an axis (0: height, 1: width) of so many pixels.
  WindowAxis Slide(int64_t size, int axis) const {
    return WithoutUnreached(SlideWindow(size, pool[axis], strides[axis], 1, same), 1);
  }

  bool maximum;
  std::vector<int64_t> pool;
  std::vector<int64_t> strides;
  bool same;
};
std::unique_ptr<Operator> MakeOperator(const Pooling2D& layer);
std::unique_ptr<PlannedOp> Plan(const Pooling2D& layer, PlanNode* node);
ops::Value Export(const Pooling2D& layer, const ExportCall& call);

struct AveragePooling2D : Pooling2D {
  static constexpr const char* kName = "AveragePooling2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "average over windows of an image";
  explicit AveragePooling2D(LayerConfig& config) : Pooling2D(config, /*maximum=*/false) {}
};
struct MaxPooling2D : Pooling2D {
  static constexpr const char* kName = "MaxPooling2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "maximum over windows of an image";
  explicit MaxPooling2D(LayerConfig& config) : Pooling2D(config, /*maximum=*/true) {}
};

}  // namespace layers
}  // namespace hopper
