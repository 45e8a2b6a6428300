#include "model/layers/activation/planned_by_axis.h"

#include <cstring>

namespace hopper {
namespace {

class PlannedGlu : public PlannedOp {
 public:
  explicit PlannedGlu(PlanNode* node)
      : node_(*node),
        columns_(node->output->shape.back()),
        rows_(columns_ == 0 ? 0 : node->output->size / columns_) {
    node->keeps_inputs = true;
  }

  void Forward(const StepArguments&) override {
    node_.kernels->glu(node_.inputs[0]->value->data, rows_, columns_, node_.output->value->data);
  }
  void Backward(const StepArguments&) override {
    node_.kernels->glu_gradient(node_.inputs[0]->value->data, node_.output->gradient->data, rows_,
                                columns_, node_.input_accumulates[0] != 0,
                                node_.inputs[0]->gradient->data);
  }

 private:
  const PlanNode& node_;
  const int64_t columns_;
  const int64_t rows_;
};

// [before][length][after] is turned into rows, block by block of `before`.
class PlannedSoftmax : public PlannedOp {
 public:
  PlannedSoftmax(PlanNode* node, size_t axis)
      : node_(*node), length_(node->output->shape[axis]), after_(1) {
    for (size_t i = axis + 1; i < node->output->shape.size(); ++i) {
      after_ *= node->output->shape[i];
    }
    const int64_t block = length_ * after_;
    blocks_ = block == 0 ? 0 : node->output->size / block;
    rows_ = node->Scratch({block}, PlanNode::During::kBoth);
    if (node->backward) gradients_ = node->Scratch({2, block}, PlanNode::During::kBackward);
    node->keeps_output = true;
  }

  void Forward(const StepArguments&) override {
    const Kernels& kernels = *node_.kernels;
    const int64_t block = length_ * after_;
    for (int64_t i = 0; i < blocks_; ++i) {
      kernels.transpose(node_.inputs[0]->value->data + i * block, length_, after_, rows_->data);
      kernels.softmax(rows_->data, after_, length_, rows_->data);
      kernels.transpose(rows_->data, after_, length_, node_.output->value->data + i * block);
    }
  }
  void Backward(const StepArguments&) override {
    const Kernels& kernels = *node_.kernels;
    const int64_t block = length_ * after_;
    float* dy = gradients_->data;
    float* dx = gradients_->data + block;
    for (int64_t i = 0; i < blocks_; ++i) {
      kernels.transpose(node_.output->value->data + i * block, length_, after_, rows_->data);
      kernels.transpose(node_.output->gradient->data + i * block, length_, after_, dy);
      kernels.softmax_gradient(rows_->data, dy, after_, length_, /*accumulate=*/false, dx);
      kernels.transpose(dx, after_, length_, dy);
      float* to = node_.inputs[0]->gradient->data + i * block;
      if (node_.input_accumulates[0]) {
        kernels.add(dy, block, to);
      } else {
        std::memcpy(to, dy, static_cast<size_t>(block) * sizeof(float));
      }
    }
  }

 private:
  const PlanNode& node_;
  const int64_t length_;
  int64_t after_;
  int64_t blocks_ = 0;
  PlanBuffer* rows_ = nullptr;
  PlanBuffer* gradients_ = nullptr;  // of one block, by row, and of its inputs
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedGlu(PlanNode* node) {
  return std::make_unique<PlannedGlu>(node);
}

std::unique_ptr<PlannedOp> MakePlannedSoftmax(PlanNode* node, int axis) {
  const int rank = static_cast<int>(node->output->shape.size()) + 1;
  return std::make_unique<PlannedSoftmax>(node,
                                          static_cast<size_t>((axis < 0 ? axis + rank : axis) - 1));
}

}  // namespace hopper
