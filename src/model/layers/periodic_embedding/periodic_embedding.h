// Periodic embedding of numbers (Gorishniy et al., "On Embeddings for Numerical Features in Tabular
// Deep Learning", 2022), in RealMLP's form with phases and without an activation, "PBLD": each of n
// features becomes cos(2 pi x frequency + phase) of some frequencies of its own, and these `units`
// numbers by a kernel and a bias of its own. The features themselves follow where
// `append_input` says so: [n] -> [n * units + n].
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct PeriodicEmbedding : Layer {
  static constexpr const char* kName = "PeriodicEmbedding";
  static constexpr const char* kWeights = "frequencies, phases, kernel, bias";
  static constexpr const char* kDescription = "cosines of each feature, as a few numbers";
  static constexpr const char* kSince = kOwnLayer;

  explicit PeriodicEmbedding(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;

  int64_t frequencies;
  int64_t units;
  double sigma;  // deviation of the first frequencies
  bool append_input;
};
std::unique_ptr<Operator> MakeOperator(const PeriodicEmbedding& layer);
std::unique_ptr<PlannedOp> Plan(const PeriodicEmbedding& layer, PlanNode* node);
ops::Value Export(const PeriodicEmbedding& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
