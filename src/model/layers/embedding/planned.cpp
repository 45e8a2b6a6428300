#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "model/layers/embedding/embedding.h"
#include "model/planned/planned_op.h"
#include "optim/gradient_rows.h"

namespace hopper {
namespace layers {
namespace {

// Ids for each row of the table from which on its gradient is a table, too, and not rows.
constexpr double kManyIds = 0.25;

// Rows are copied, and gradients added to the table's in the order of the ids.
class PlannedEmbedding : public PlannedOp {
 public:
  PlannedEmbedding(PlanNode* node, const Embedding& layer)
      : node_(*node), layer_(layer), ids_(node->inputs[0]->size) {
    node->keeps_inputs = true;
  }

  void Forward(const StepArguments& step) override {
    const float* ids = node_.inputs[0]->value->data;
    const float* table = step.params + node_.weights[0].offset;
    float* y = node_.output->value->data;
    const auto bytes = static_cast<size_t>(layer_.output_dim) * sizeof(float);
    for (int64_t i = 0; i < ids_; ++i, y += layer_.output_dim) {
      std::memcpy(y, table + layer_.RowOf(ids[i]) * layer_.output_dim, bytes);
    }
  }

  void Backward(const StepArguments& step) override {
    PlanValue& input = *node_.inputs[0];
    if (input.gradient != nullptr && node_.input_accumulates[0] == 0) {
      std::fill_n(input.gradient->data, input.size, 0.0F);
    }
    if (!node_.weights[0].trainable) return;
    const float* ids = input.value->data;
    float* table = step.gradients + node_.weights[0].offset;
    const float* dy = node_.output->gradient->data;
    const int64_t width = layer_.output_dim;
    GradientRows* rows = RowsToAddTo();
    if (rows != nullptr) {
      std::vector<int64_t> read(static_cast<size_t>(ids_));
      std::transform(ids, ids + ids_, read.begin(), [&](float id) { return layer_.RowOf(id); });
      rows->Add(node_.weights[0].offset, width, std::move(read), step.gradients);
    } else if (node_.weight_accumulates[0] == 0) {
      std::fill_n(table, node_.weights[0].size, 0.0F);
    }
    for (int64_t i = 0; i < ids_; ++i, dy += width) {
      float* row = table + layer_.RowOf(ids[i]) * width;
      for (int64_t j = 0; j < width; ++j) row[j] += dy[j];
    }
  }

 private:
  // Null: the gradient is a table. All calls of a layer in a step give it in the form of the first.
  GradientRows* RowsToAddTo() const {
    GradientRows* rows = GradientRowsScope::Current();
    if (rows == nullptr) return nullptr;
    const bool as_rows =
        node_.weight_accumulates[0] != 0
            ? rows->Find(node_.weights[0].offset) != nullptr
            : static_cast<double>(ids_) < kManyIds * static_cast<double>(layer_.input_dim);
    return as_rows ? rows : nullptr;
  }

  const PlanNode& node_;
  const Embedding& layer_;
  const int64_t ids_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Embedding& layer, PlanNode* node) {
  return std::make_unique<PlannedEmbedding>(node, layer);
}

}  // namespace layers
}  // namespace hopper
