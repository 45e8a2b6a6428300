// MultiHeadAttention and GroupQueryAttention over series of steps x features: query, value and, if
// given, key.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct HeadAttention : Layer {
  static constexpr bool kNamesInputs = true;
  static constexpr bool kCausal = true;
  explicit HeadAttention(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
  int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const override;
  bool reads_masks() const override { return true; }
  bool changes_in_training() const override { return dropout > 0.0; }

  int64_t heads = 1;
  int64_t key_value_heads = 1;  // of which each serves as many heads of the query
  int64_t key_dim = 1;
  int64_t value_dim = 1;
  int64_t output_dim = 0;  // 0: the query's
  int64_t window = 0;      // steps to each side that are seen, with the own one; 0: all
  double dropout;
  bool use_bias;
  WeightRules kernel_rules;
  WeightRules bias_rules;

 protected:
  static int64_t ReadCount(LayerConfig& config, const char* key);
};
std::unique_ptr<Operator> MakeOperator(const HeadAttention& layer);
std::unique_ptr<PlannedOp> Plan(const HeadAttention& layer, PlanNode* node);
ops::Value Export(const HeadAttention& layer, const ExportCall& call);

struct MultiHeadAttention : HeadAttention {
  static constexpr const char* kName = "MultiHeadAttention";
  static constexpr const char* kWeights =
      "kernel and bias of query, key, value and attention_output";
  static constexpr const char* kDescription = "attention with several heads";
  static constexpr const char* kSince = "2.4";
  explicit MultiHeadAttention(LayerConfig& config);
  Masking masking() const override { return takes_masks ? Masking::kTakes : Masking::kCarries; }

  bool takes_masks;  // in Keras 3
};
struct GroupQueryAttention : HeadAttention {
  static constexpr const char* kName = "GroupQueryAttention";
  static constexpr const char* kOtherName = "GroupedQueryAttention";  // of Keras' own files
  static constexpr const char* kWeights =
      "kernel and bias of query, key, value and attention_output";
  static constexpr const char* kDescription =
      "attention with several heads, of which some share key and value";
  static constexpr const char* kSince = "3.0";
  explicit GroupQueryAttention(LayerConfig& config);
  Masking masking() const override { return Masking::kCarries; }
};

}  // namespace layers
}  // namespace hopper
