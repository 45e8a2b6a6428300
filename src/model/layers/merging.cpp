// Add and Concatenate: several inputs become one.
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cstring>

#include "model/planned_op.h"
#endif

namespace hopper {
namespace {

void RequireInputs(const Layer& layer, const std::vector<Shape>& inputs) {
  if (!inputs.empty()) return;
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + " needs at least one input");
}

[[noreturn]] void DoNotFit(const Layer& layer, const Shape& a, const Shape& b) {
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + ": inputs of shapes " +
                                                ShapeText(a) + " and " + ShapeText(b) +
                                                " do not fit together");
}

#ifdef HOPPER_TORCH
// Inputs of one shape.
class PlannedAdd : public PlannedOp {
 public:
  explicit PlannedAdd(PlanNode* node) : node_(*node) {}

  void Forward(const StepArguments&) override {
    float* y = node_.output->value->data;
    std::memcpy(y, node_.inputs[0]->value->data, Bytes());
    for (size_t i = 1; i < node_.inputs.size(); ++i) {
      node_.kernels->add(node_.inputs[i]->value->data, node_.output->size, y);
    }
  }
  void Backward(const StepArguments&) override {
    const float* dy = node_.output->gradient->data;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!node_.InputNeedsGradient(i)) continue;
      float* dx = node_.inputs[i]->gradient->data;
      if (node_.input_accumulates[i]) {
        node_.kernels->add(dy, node_.output->size, dx);
      } else {
        std::memcpy(dx, dy, Bytes());
      }
    }
  }

 private:
  size_t Bytes() const { return static_cast<size_t>(node_.output->size) * sizeof(float); }
  const PlanNode& node_;
};

// Along the last axis.
class PlannedConcatenate : public PlannedOp {
 public:
  explicit PlannedConcatenate(PlanNode* node)
      : node_(*node),
        width_(node->output->shape.back()),
        rows_(width_ == 0 ? 0 : node->output->size / width_) {}

  void Forward(const StepArguments&) override {
    float* y = node_.output->value->data;
    for (const PlanValue* input : node_.inputs) {
      const int64_t n = input->shape.back();
      for (int64_t r = 0; r < rows_; ++r) {
        std::memcpy(y + r * width_, input->value->data + r * n,
                    static_cast<size_t>(n) * sizeof(float));
      }
      y += n;
    }
  }
  void Backward(const StepArguments&) override {
    const float* dy = node_.output->gradient->data;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const int64_t n = node_.inputs[i]->shape.back();
      if (node_.InputNeedsGradient(i)) {
        float* dx = node_.inputs[i]->gradient->data;
        for (int64_t r = 0; r < rows_; ++r) {
          if (node_.input_accumulates[i]) {
            node_.kernels->add(dy + r * width_, n, dx + r * n);
          } else {
            std::memcpy(dx + r * n, dy + r * width_, static_cast<size_t>(n) * sizeof(float));
          }
        }
      }
      dy += n;
    }
  }

 private:
  const PlanNode& node_;
  const int64_t width_;
  const int64_t rows_;
};
#endif

class Add : public Layer {
 public:
  explicit Add(LayerConfig& config) : Layer(config) {}

  // Broadcasts as Keras does: missing axes come after the batch, axes of size 1 are repeated.
  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireInputs(*this, inputs);
    Shape output = inputs[0];
    for (const Shape& input : inputs) {
      const Shape before = output;
      if (input.size() > output.size()) {
        output.insert(output.begin(), input.size() - output.size(), 1);
      }
      const size_t shift = output.size() - input.size();
      for (size_t i = 0; i < input.size(); ++i) {
        int64_t& size = output[shift + i];
        if (size == 1) size = input[i];
        if (input[i] != 1 && input[i] != size) DoNotFit(*this, before, input);
      }
    }
    return output;
  }

  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override {
    return ElementCount(output) * static_cast<int64_t>(inputs.size() - 1);
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    int64_t rank = 0;
    for (const at::Tensor& input : inputs) rank = std::max(rank, input.dim());
    at::Tensor sum = WithRank(inputs[0], rank);
    for (size_t i = 1; i < inputs.size(); ++i) sum = at::add(sum, WithRank(inputs[i], rank));
    return sum;
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    for (const PlanValue* input : node->inputs) {
      if (input->shape != node->output->shape) return nullptr;
    }
    return std::make_unique<PlannedAdd>(node);
  }

 private:
  static at::Tensor WithRank(at::Tensor x, int64_t rank) {
    while (x.dim() < rank) x = x.unsqueeze(1);
    return x;
  }
#endif
};

class Concatenate : public Layer {
 public:
  explicit Concatenate(LayerConfig& config) : Layer(config), axis_(config.Int("axis", -1)) {
    if (axis_ == 0) {
      config.Fail(ErrorCode::kNotSupported, "axis 0 is the batch and cannot be concatenated",
                  "Use another axis; -1 is the last.");
    }
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireInputs(*this, inputs);
    Shape output = inputs[0];
    const int64_t rank = static_cast<int64_t>(output.size());
    // Keras counts the batch as axis 0.
    const int64_t axis = axis_ < 0 ? rank + axis_ : axis_ - 1;
    if (axis < 0 || axis >= rank) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class Concatenate: axis " + std::to_string(axis_) +
                      " does not exist in an input of shape " + ShapeText(output));
    }
    for (size_t i = 1; i < inputs.size(); ++i) {
      const Shape& input = inputs[i];
      bool fits = input.size() == output.size();
      for (int64_t j = 0; fits && j < rank; ++j) fits = j == axis || input[j] == output[j];
      if (!fits) DoNotFit(*this, inputs[0], input);
      output[axis] += input[axis];
    }
    return output;
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    return inputs.size() == 1 ? inputs[0] : at::cat(inputs, axis_);
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    const auto rank = static_cast<int64_t>(node->output->shape.size());
    if (rank == 0 || (axis_ != -1 && axis_ != rank)) return nullptr;
    return std::make_unique<PlannedConcatenate>(node);
  }
#endif

 private:
  int64_t axis_;
};

}  // namespace

std::unique_ptr<Layer> MakeAdd(LayerConfig& config) { return std::make_unique<Add>(config); }
std::unique_ptr<Layer> MakeConcatenate(LayerConfig& config) {
  return std::make_unique<Concatenate>(config);
}

}  // namespace hopper
