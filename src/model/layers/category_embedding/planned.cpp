#include <algorithm>
#include <cstring>

#include "model/layers/category_embedding/category_embedding.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

// As that of Embedding: gradients are added in the order of the ids. Each id has a part in the
// output of its column: all of it, or in a text one of as many as it has words.
class PlannedCategoryEmbedding : public PlannedOp {
 public:
  PlannedCategoryEmbedding(PlanNode* node, const CategoryEmbedding& layer)
      : node_(*node), layer_(layer), width_(layer.output_dim) {
    node->keeps_inputs = true;
  }

  void Forward(const StepArguments& step) override {
    const float* table = step.params + node_.weights[0].offset;
    float* y = node_.output->value->data;
    if (layer_.has_texts()) std::fill_n(y, node_.output->size, 0.0F);
    ForEachId([&](int64_t row, int64_t at, float part) {
      const float* from = table + row * width_;
      float* to = y + at * width_;
      if (!layer_.has_texts()) {
        std::memcpy(to, from, static_cast<size_t>(width_) * sizeof(float));
        return;
      }
      for (int64_t j = 0; j < width_; ++j) to[j] += from[j] * part;
    });
  }

  void Backward(const StepArguments& step) override {
    PlanValue& input = *node_.inputs[0];
    if (input.gradient != nullptr && node_.input_accumulates[0] == 0) {
      std::fill_n(input.gradient->data, input.size, 0.0F);
    }
    if (!node_.weights[0].trainable) return;
    float* table = step.gradients + node_.weights[0].offset;
    if (node_.weight_accumulates[0] == 0) std::fill_n(table, node_.weights[0].size, 0.0F);
    const float* dy = node_.output->gradient->data;
    ForEachId([&](int64_t row, int64_t at, float part) {
      const float* from = dy + at * width_;
      float* to = table + row * width_;
      for (int64_t j = 0; j < width_; ++j) to[j] += from[j] * part;
    });
  }

 private:
  // Of each id but padding its row of weights, its place in the output and its part of it.
  template <typename Body>
  void ForEachId(const Body& body) const {
    const float* ids = node_.inputs[0]->value->data;
    int64_t at = 0;
    for (int64_t i = 0; i < node_.batch; ++i) {
      for (size_t c = 0; c < layer_.lengths.size(); ++c, ++at) {
        const int64_t length = layer_.lengths[c];
        if (length == 1) {
          body(layer_.RowOf(c, *ids++), at, 1.0F);
          continue;
        }
        int64_t n = 0;
        for (int64_t k = 0; k < length; ++k) n += layer_.RowOf(c, ids[k]) != layer_.first_rows[c];
        const float part = 1.0F / static_cast<float>(n);
        for (int64_t k = 0; k < length; ++k) {
          const int64_t row = layer_.RowOf(c, *ids++);
          if (row != layer_.first_rows[c]) body(row, at, part);
        }
      }
    }
  }

  const PlanNode& node_;
  const CategoryEmbedding& layer_;
  const int64_t width_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const CategoryEmbedding& layer, PlanNode* node) {
  return std::make_unique<PlannedCategoryEmbedding>(node, layer);
}

}  // namespace layers
}  // namespace hopper
