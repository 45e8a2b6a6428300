// Attention and AdditiveAttention over series of steps x features: query, value and, if given, key.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct DotAttention : Layer {
  static constexpr TrainingDefault kTraining = TrainingDefault::kFalse;
  static constexpr bool kCausal = true;
  DotAttention(LayerConfig& config, bool additive);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  Masking masking() const override { return Masking::kCarries; }
  bool reads_masks() const override { return true; }
  bool changes_in_training() const override { return dropout > 0.0; }
  // Scores are sums of tanh(query + key) instead of products.
  bool sums() const { return additive || concatenates; }

  bool additive;
  bool use_scale;
  bool concatenates;  // score_mode "concat"
  double dropout;
};
std::unique_ptr<Operator> MakeOperator(const DotAttention& layer);
ops::Value Export(const DotAttention& layer, const ExportCall& call);

struct AttentionLayer : DotAttention {
  static constexpr const char* kName = "Attention";
  static constexpr const char* kWeights = "scale, concat_score_weight";
  static constexpr const char* kDescription = "attention by products of query and key";
  static constexpr const char* kSince = "2.4";
  explicit AttentionLayer(LayerConfig& config) : DotAttention(config, /*additive=*/false) {}
};
struct AdditiveAttention : DotAttention {
  static constexpr const char* kName = "AdditiveAttention";
  static constexpr const char* kWeights = "scale";
  static constexpr const char* kDescription = "attention by sums of query and key";
  static constexpr const char* kSince = "2.4";
  explicit AdditiveAttention(LayerConfig& config) : DotAttention(config, /*additive=*/true) {}
};

}  // namespace layers
}  // namespace hopper
