// keras.ops.take(x, [2, 0], axis=1): places of an axis, in any order and more than once.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Take : Layer {
  static constexpr const char* kName = "Take";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "chosen places of an axis";
  static constexpr const char* kSince = kOperationOnly;

  // "indices" of places along "axis", from its end where they are below 0.
  explicit Take(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  // Neighbouring places in ascending order.
  struct Run {
    int64_t first = 0;
    int64_t count = 0;
  };
  struct Taken {
    int64_t axis = 1;  // the batch is 0
    std::vector<Run> runs;
  };
  // Throws where the places do not fit the example's shape.
  Taken Of(const Shape& input) const;

 private:
  int64_t axis_;
  std::vector<int64_t> indices_;
};
std::unique_ptr<Operator> MakeOperator(const Take& layer);
std::unique_ptr<PlannedOp> Plan(const Take& layer, PlanNode* node);
ops::Value Export(const Take& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
