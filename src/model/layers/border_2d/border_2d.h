// ZeroPadding2D and Cropping2D: rows and columns added to an image, or cut off.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Border2D : Layer {
  Border2D(LayerConfig& config, const char* key, int64_t sign);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  // Rows and columns more at the top, bottom, left and right; less where below 0.
  std::vector<int64_t> ends;
};
std::unique_ptr<Operator> MakeOperator(const Border2D& layer);
std::unique_ptr<PlannedOp> Plan(const Border2D& layer, PlanNode* node);
ops::Value Export(const Border2D& layer, const ExportCall& call);

struct Cropping2D : Border2D {
  static constexpr const char* kName = "Cropping2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "cuts rows and columns off an image";
  explicit Cropping2D(LayerConfig& config) : Border2D(config, "cropping", -1) {}
  Passes PassesOn(const Shape& /*input*/) const override { return Passes::kRows; }
};
struct ZeroPadding2D : Border2D {
  static constexpr const char* kName = "ZeroPadding2D";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "rows and columns of zeros around an image";
  explicit ZeroPadding2D(LayerConfig& config) : Border2D(config, "padding", 1) {}
};

}  // namespace layers
}  // namespace hopper
