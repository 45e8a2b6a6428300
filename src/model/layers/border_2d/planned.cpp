#include <algorithm>
#include <cstring>

#include "model/layers/border_2d/border_2d.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedBorder2D : public PlannedOp {
 public:
  PlannedBorder2D(PlanNode* node, const std::vector<int64_t>& ends) : node_(*node) {
    const Shape& in = node->inputs[0]->shape;
    const Shape& out = node->output->shape;
    in_rows_ = in[0];
    out_rows_ = out[0];
    in_width_ = in[1] * in[2];
    out_width_ = out[1] * out[2];
    in_top_ = std::max<int64_t>(-ends[0], 0);
    out_top_ = std::max<int64_t>(ends[0], 0);
    in_left_ = std::max<int64_t>(-ends[2], 0) * in[2];
    out_left_ = std::max<int64_t>(ends[2], 0) * in[2];
    rows_ = std::min(in_rows_ - in_top_, out_rows_ - out_top_);
    width_ = std::min(in_width_ - in_left_, out_width_ - out_left_);
  }

  void Forward(const StepArguments&) override {
    float* y = node_.output->value->data;
    if (rows_ < out_rows_ || width_ < out_width_) {
      std::memset(y, 0, static_cast<size_t>(node_.output->size) * sizeof(float));
    }
    const float* x = node_.inputs[0]->value->data;
    EachRow([&](int64_t in, int64_t out) {
      std::memcpy(y + out, x + in, static_cast<size_t>(width_) * sizeof(float));
    });
  }
  void Backward(const StepArguments&) override {
    const float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    const bool accumulate = node_.input_accumulates[0] != 0;
    if (!accumulate && (rows_ < in_rows_ || width_ < in_width_)) {
      std::memset(dx, 0, static_cast<size_t>(node_.inputs[0]->size) * sizeof(float));
    }
    EachRow([&](int64_t in, int64_t out) {
      if (accumulate) {
        node_.kernels->add(dy + out, width_, dx + in);
      } else {
        std::memcpy(dx + in, dy + out, static_cast<size_t>(width_) * sizeof(float));
      }
    });
  }

 private:
  // Calls row(start in the input, start in the output) for each row that both have.
  template <typename Row>
  void EachRow(const Row& row) const {
    for (int64_t image = 0; image < node_.batch; ++image) {
      for (int64_t i = 0; i < rows_; ++i) {
        row((image * in_rows_ + in_top_ + i) * in_width_ + in_left_,
            (image * out_rows_ + out_top_ + i) * out_width_ + out_left_);
      }
    }
  }

  const PlanNode& node_;
  int64_t in_rows_, out_rows_, in_width_, out_width_;  // widths in floats
  int64_t in_top_, out_top_, in_left_, out_left_;      // where the common part starts
  int64_t rows_, width_;                               // of the common part
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Border2D& layer, PlanNode* node) {
  return std::make_unique<PlannedBorder2D>(node, layer.ends);
}

}  // namespace layers
}  // namespace hopper
