#include <cstring>

#include "model/layers/merge/merge.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

// Inputs of one shape.
class PlannedAdd : public PiecewiseOp {
 public:
  explicit PlannedAdd(PlanNode* node)
      : PiecewiseOp(node->batch), node_(*node), example_(node->output->size / node->batch) {
    node->gradient_in_place = true;
  }

  void ForwardPiece(const StepArguments&, int64_t first, int64_t last) override {
    const int64_t at = first * example_;
    const int64_t n = (last - first) * example_;
    float* y = node_.output->value->data + at;
    Copy(node_.inputs[0]->value->data + at, n, y);
    for (size_t i = 1; i < node_.inputs.size(); ++i) {
      node_.kernels->add(node_.inputs[i]->value->data + at, n, y);
    }
  }
  void BackwardPiece(const StepArguments&, int64_t first, int64_t last) override {
    const int64_t at = first * example_;
    const int64_t n = (last - first) * example_;
    const float* dy = node_.output->gradient->data + at;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      if (!node_.InputNeedsGradient(i)) continue;
      float* dx = node_.inputs[i]->gradient->data + at;
      if (node_.input_accumulates[i]) {
        node_.kernels->add(dy, n, dx);
      } else if (dx != dy) {
        Copy(dy, n, dx);
      }
    }
  }

 private:
  static void Copy(const float* from, int64_t n, float* to) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  }
  const PlanNode& node_;
  const int64_t example_;  // floats
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

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Add& /*layer*/, PlanNode* node) {
  for (const PlanValue* input : node->inputs) {
    if (input->shape != node->output->shape) return std::make_unique<PlannedBroadcastAdd>(node);
  }
  return std::make_unique<PlannedAdd>(node);
}

}  // namespace layers
}  // namespace hopper
