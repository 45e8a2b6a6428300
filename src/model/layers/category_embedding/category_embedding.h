// Embeddings of several columns of categories: value i of a row is an id of column i, which has
// input_dims[i] of them and as many rows of weights; these stand behind each other in the output.
// A column of lengths[i] > 1 ids is a text: the mean of the rows of its ids other than 0, which is
// padding; zeros where there are none. Ids are the packed numbers, exact up to 2^24.
#pragma once

#include "model/layer.h"

namespace hopper {
namespace layers {

struct CategoryEmbedding : Layer {
  static constexpr const char* kName = "CategoryEmbedding";
  static constexpr const char* kWeights = "embeddings";
  static constexpr const char* kDescription = "rows of weights for columns of categories";
  static constexpr const char* kSince = kOwnLayer;

  explicit CategoryEmbedding(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override;
  bool takes_ids() const override { return true; }

  // The row of the table, of an id of a column, which is cut to a whole number; throws for others
  // than 0 to input_dims[column] - 1.
  int64_t RowOf(size_t column, float id) const {
    if (id > -1.0F && id < static_cast<float>(input_dims[column])) {
      return first_rows[column] + static_cast<int64_t>(id);
    }
    ThrowNoRow(column, id);
  }

  bool has_texts() const { return places > static_cast<int64_t>(input_dims.size()); }

  std::vector<int64_t> input_dims;
  std::vector<int64_t> lengths;     // ids of each column
  int64_t places = 0;               // ids of all
  std::vector<int64_t> first_rows;  // of each column
  int64_t rows = 0;                 // of all
  int64_t output_dim;
  WeightRules rules;

 private:
  [[noreturn]] void ThrowNoRow(size_t column, float id) const;
};
std::unique_ptr<Operator> MakeOperator(const CategoryEmbedding& layer);
std::unique_ptr<PlannedOp> Plan(const CategoryEmbedding& layer, PlanNode* node);
ops::Value Export(const CategoryEmbedding& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
