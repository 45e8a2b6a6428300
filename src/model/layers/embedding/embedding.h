// Embedding: a row of a table for each id. Ids are the packed numbers, exact up to 2^24.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct Embedding : Layer {
  static constexpr const char* kName = "Embedding";
  static constexpr const char* kWeights = "embeddings";
  static constexpr const char* kDescription = "a row of weights for each id";

  explicit Embedding(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  Mask MadeMask() const override;
  bool takes_ids() const override { return true; }

  // The row of an id, which is cut to an integer as Keras does; throws for others than
  // 0 to input_dim - 1.
  int64_t RowOf(float id) const {
    if (id > -1.0F && id < static_cast<float>(input_dim)) return static_cast<int64_t>(id);
    ThrowNoRow(id);
  }

  int64_t input_dim;
  int64_t output_dim;
  bool mask_zero;
  WeightRules rules;

 private:
  [[noreturn]] void ThrowNoRow(float id) const;
};
std::unique_ptr<Operator> MakeOperator(const Embedding& layer);
std::unique_ptr<PlannedOp> Plan(const Embedding& layer, PlanNode* node);
ops::Value Export(const Embedding& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
