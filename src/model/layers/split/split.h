// keras.ops.split(): neighbouring parts of an axis. A call has several outputs, of which each is a
// layer of its own here.
#pragma once

#include "model/tensor_operation.h"

namespace hopper {
namespace layers {

struct Split : Layer {
  static constexpr const char* kName = "Split";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "one of the parts of an axis";
  static constexpr const char* kSince = kOperationOnly;

  // "parts" of equal size, or from "indices" on, or of "sizes", of which one may be -1; it gives
  // number "part".
  explicit Split(LayerConfig& config);
  Shape OutputShape(const std::vector<Shape>& inputs) const override;

  struct Range {
    int64_t axis = 1;  // the batch is 0
    int64_t first = 0;
    int64_t size = 0;
  };
  // Throws where the parts do not fit the example's shape.
  Range Of(const Shape& input) const;

 private:
  int64_t axis_;
  int64_t parts_;
  int64_t part_;
  std::vector<int64_t> indices_;
  std::vector<int64_t> sizes_;
};
std::unique_ptr<Operator> MakeOperator(const Split& layer);
ops::Value Export(const Split& layer, const ExportCall& call);

}  // namespace layers
}  // namespace hopper
