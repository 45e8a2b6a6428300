#include "model/layers/category_embedding/category_embedding.h"

#include <algorithm>
#include <numeric>

#include "model/keras/json_text.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

// Integers that float32 has all of.
constexpr int64_t kMostCategories = int64_t{1} << 24;

}  // namespace

CategoryEmbedding::CategoryEmbedding(LayerConfig& config)
    : Layer(config),
      input_dims(config.Ints("input_dims", 0, {})),
      lengths(config.Ints("lengths", 0, {})),
      output_dim(config.Int("output_dim", 8)),
      rules(config.GetRules("embeddings", "uniform")) {
  if (!config.Has("input_dims")) config.Missing("input_dims");
  config.RequireCount("output_dim", &output_dim);
  for (int64_t& dim : input_dims) {
    if (dim < 1 || dim > kMostCategories) {
      config.Fail(dim < 1 ? ErrorCode::kInvalidParameter : ErrorCode::kLimitExceeded,
                  "argument \"input_dims\" holds " + std::to_string(dim),
                  "Numbers of ids are 1 to " + std::to_string(kMostCategories) + ".");
      dim = 1;
    }
    first_rows.push_back(rows);
    rows += dim;
  }
  const std::string columns = std::to_string(input_dims.size());
  if (lengths.empty()) lengths.assign(input_dims.size(), 1);
  const bool possible =
      std::all_of(lengths.begin(), lengths.end(), [](int64_t length) { return length >= 1; });
  if (!possible || lengths.size() != input_dims.size()) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"lengths\" is no list of numbers of ids of " + columns + " columns",
                "Write a number of 1 or more for each number of input_dims.");
    lengths.assign(input_dims.size(), 1);
  }
  places = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
}

Shape CategoryEmbedding::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const auto columns = static_cast<int64_t>(input_dims.size());
  if (inputs[0] != Shape{places}) {
    ThrowUnfit(*this, "input_dims of " + std::to_string(columns) + " columns" +
                          (has_texts() ? " with " + std::to_string(places) + " ids" : "") +
                          " do not fit an input of shape " + ShapeText(inputs[0]));
  }
  return {columns * output_dim};
}

std::vector<WeightSpec> CategoryEmbedding::Weights(const std::vector<Shape>& /*inputs*/) const {
  std::vector<WeightSpec> weights(1);
  weights[0].name = "embeddings";
  weights[0].shape = {rows, output_dim};
  weights[0].Follow(rules);
  return weights;
}

void CategoryEmbedding::ThrowNoRow(size_t column, float id) const {
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + name() + "\" of class CategoryEmbedding has no row for id " +
                  NumberText(static_cast<double>(id)) + " of column " + std::to_string(column),
              "Its ids are 0 to " + std::to_string(input_dims[column] - 1) + ".",
              "Give input_dims the largest id plus 1, and pack ids without normalizing_const.");
}

}  // namespace layers
}  // namespace hopper
