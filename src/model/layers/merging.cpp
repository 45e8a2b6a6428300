// Add and Concatenate: several inputs become one.
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cstddef>
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

// Along any axis: the outputs are `before` blocks of the inputs' blocks side by side.
class PlannedConcatenate : public PlannedOp {
 public:
  // `axis` counts the example's own axes from 0.
  PlannedConcatenate(PlanNode* node, size_t axis) : node_(*node), axis_(axis) {
    width_ = BlockOf(node->output->shape);
    blocks_ = width_ == 0 ? 0 : node->output->size / width_;
  }

  void Forward(const StepArguments&) override {
    float* y = node_.output->value->data;
    for (const PlanValue* input : node_.inputs) {
      const int64_t n = BlockOf(input->shape);
      for (int64_t r = 0; r < blocks_; ++r) {
        std::memcpy(y + r * width_, input->value->data + r * n,
                    static_cast<size_t>(n) * sizeof(float));
      }
      y += n;
    }
  }
  void Backward(const StepArguments&) override {
    const float* dy = node_.output->gradient->data;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      const int64_t n = BlockOf(node_.inputs[i]->shape);
      if (node_.InputNeedsGradient(i)) {
        float* dx = node_.inputs[i]->gradient->data;
        for (int64_t r = 0; r < blocks_; ++r) {
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
  // Floats from the axis on.
  int64_t BlockOf(const Shape& shape) const {
    return ElementCount(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis_), shape.end()));
  }

  const PlanNode& node_;
  const size_t axis_;
  int64_t width_ = 0;
  int64_t blocks_ = 0;
};

// Inputs of several shapes. Each is repeated along its axes of size 1; neighbouring axes that are
// repeated alike are one.
class PlannedBroadcastAdd : public PlannedOp {
 public:
  explicit PlannedBroadcastAdd(PlanNode* node) : node_(*node) {
    for (const PlanValue* input : node->inputs) {
      axes_.push_back(AxesOf(node->batch, input->shape, node->output->shape));
    }
  }

  void Forward(const StepArguments&) override {
    float* y = node_.output->value->data;
    std::memset(y, 0, static_cast<size_t>(node_.output->size) * sizeof(float));
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      Walk(axes_[i], 0, node_.inputs[i]->value->data, y,
           [this](float* x, float* at, const Axis& a) {
             if (a.repeated) {
               node_.kernels->scale(at, 1.0F, *x, a.size, at);
             } else {
               node_.kernels->add(x, a.size, at);
             }
           });
    }
  }
  void Backward(const StepArguments&) override {
    float* dy = node_.output->gradient->data;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!node_.InputNeedsGradient(i)) continue;
      float* dx = node_.inputs[i]->gradient->data;
      if (!node_.input_accumulates[i]) {
        std::memset(dx, 0, static_cast<size_t>(node_.inputs[i]->size) * sizeof(float));
      }
      Walk(axes_[i], 0, dx, dy, [this](float* x, float* at, const Axis& a) {
        if (a.repeated) {
          float sum = 0.0F;
          node_.kernels->column_sums(at, a.size, 1, &sum);
          *x += sum;
        } else {
          node_.kernels->add(at, a.size, x);
        }
      });
    }
  }

 private:
  struct Axis {
    int64_t size = 1;
    bool repeated = false;
    int64_t in_step = 0, out_step = 0;  // floats from one of its cells to the next
  };

  static std::vector<Axis> AxesOf(int64_t batch, const Shape& input, const Shape& output) {
    // Missing axes come after the batch.
    Shape from{batch};
    from.insert(from.end(), output.size() - input.size(), 1);
    from.insert(from.end(), input.begin(), input.end());
    Shape to{batch};
    to.insert(to.end(), output.begin(), output.end());
    std::vector<Axis> axes;
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] == 1) continue;
      const bool repeated = from[i] != to[i];
      if (axes.empty() || axes.back().repeated != repeated) axes.push_back({1, repeated, 0, 0});
      axes.back().size *= to[i];
    }
    if (axes.empty()) axes.push_back({});
    int64_t in_step = 1, out_step = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      axes[i].in_step = axes[i].repeated ? 0 : in_step;
      axes[i].out_step = out_step;
      if (!axes[i].repeated) in_step *= axes[i].size;
      out_step *= axes[i].size;
    }
    return axes;
  }

  // Calls row(input, output, axis) for each row along the last axis.
  template <typename Row>
  static void Walk(const std::vector<Axis>& axes, size_t level, float* in, float* out,
                   const Row& row) {
    const Axis& axis = axes[level];
    if (level + 1 == axes.size()) return row(in, out, axis);
    for (int64_t i = 0; i < axis.size; ++i) {
      Walk(axes, level + 1, in + i * axis.in_step, out + i * axis.out_step, row);
    }
  }

  const PlanNode& node_;
  std::vector<std::vector<Axis>> axes_;  // of each input
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
      if (input->shape != node->output->shape) return std::make_unique<PlannedBroadcastAdd>(node);
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
    const auto rank = static_cast<int64_t>(node->output->shape.size()) + 1;  // with the batch
    const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
    if (axis < 1) return nullptr;  // not of an example
    return std::make_unique<PlannedConcatenate>(node, static_cast<size_t>(axis - 1));
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
