// Rescaling: x * scale + offset, each a number or one for each place of the last axis.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Rescaling : Layer {
  static constexpr const char* kName = "Rescaling";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "x * scale + offset";
  static constexpr const char* kCompletion = R"({"offset": 0.0})";
  static constexpr const char* kSince = "2.6";

  explicit Rescaling(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return carries_masks ? Masking::kCarries : Masking::kLoses; }

  std::vector<double> scale;
  std::vector<double> offset;
  bool carries_masks;  // in Keras 3
};
std::unique_ptr<Operator> MakeOperator(const Rescaling& layer);
std::unique_ptr<PlannedOp> Plan(const Rescaling& layer, PlanNode* node);
ops::Value Export(const Rescaling& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
