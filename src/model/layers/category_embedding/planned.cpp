#include <algorithm>
#include <cstring>

#include "model/layers/category_embedding/category_embedding.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

// As that of Embedding: gradients are added in the order of the ids.
class PlannedCategoryEmbedding : public PlannedOp {
 public:
  PlannedCategoryEmbedding(PlanNode* node, const CategoryEmbedding& layer)
      : node_(*node), layer_(layer), width_(layer.output_dim) {
    node->keeps_inputs = true;
  }

  void Forward(const StepArguments& step) override {
    const float* table = step.params + node_.weights[0].offset;
    float* y = node_.output->value->data;
    ForEachId([&](int64_t row) {
      std::memcpy(y, table + row * width_, static_cast<size_t>(width_) * sizeof(float));
      y += width_;
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
    ForEachId([&](int64_t row) {
      float* to = table + row * width_;
      for (int64_t j = 0; j < width_; ++j) to[j] += dy[j];
      dy += width_;
    });
  }

 private:
  template <typename Body>
  void ForEachId(const Body& body) const {
    const float* ids = node_.inputs[0]->value->data;
    const size_t columns = layer_.input_dims.size();
    for (int64_t i = 0; i < node_.batch; ++i) {
      for (size_t c = 0; c < columns; ++c) body(layer_.RowOf(c, *ids++));
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
