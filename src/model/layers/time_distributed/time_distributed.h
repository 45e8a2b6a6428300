// TimeDistributed: a layer at each step of its input.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct TimeDistributed : Layer {
  static constexpr const char* kName = "TimeDistributed";
  static constexpr const char* kWeights = "those of its layer";
  static constexpr const char* kDescription = "a layer at each step of its input";

  explicit TimeDistributed(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Activation FinalActivation() const override { return inner().FinalActivation(); }
  Masking masking() const override {
    const bool heeds = inner().reads_masks() || inner().masking() == Masking::kCannot;
    return heeds ? Masking::kCannot : Masking::kCarries;
  }
  bool changes_in_training() const override { return inner().changes_in_training(); }

  const Layer& inner() const { return *inner_; }
  // Whether steps change what later steps do.
  bool by_step() const { return inner().has_moving_statistics(); }

 private:
  std::unique_ptr<Layer> inner_;  // null where the configuration has problems
};
std::unique_ptr<Operator> MakeOperator(const TimeDistributed& layer);
ops::Value Export(const TimeDistributed& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
