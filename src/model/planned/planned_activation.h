// Activations in planned ops, on top of the op that computes their argument.
#pragma once

#include "model/activation.h"
#include "model/planned/planned_op.h"

namespace hopper {

// Immutable. The result takes the place of the argument: the gradient is a function of the result,
// or of the derivatives that the forward pass leaves in memory of the node.
class PlannedActivation {
 public:
  // False where an activation has no planned form; autograd then runs the layer. `applies` is
  // AppliesActivation() of the node: false leaves the activation out.
  static bool Supports(const ActivationSpec& spec, bool applies, const Shape& output);
  // Over the output of `node`, which it asks for memory. Where `spec` does nothing, the activation
  // of the layer that follows, if it can be had.
  explicit PlannedActivation(PlanNode* node, const ActivationSpec& spec = {});

  // Identity: neither pass has anything to do.
  bool none() const { return kind_ == Kind::kNone; }
  // The op can apply it itself, as GemmArgs::relu.
  bool relu() const;
  // The result is the argument between these two, and its gradient passes between them; false: it
  // is something else.
  bool Clips(float* least, float* most) const;
  // Backward() reads the result: what PlanNode::keeps_output is to be.
  bool keeps_output() const { return kind_ != Kind::kNone && kind_ != Kind::kOfArgument; }

  // y = f(x), also in place; all elements of the output.
  void Forward(const float* x, float* y) const;
  // dx = dy * f'(x), also in place. `y` is where the output lies.
  void Backward(const float* y, const float* dy, float* dx) const;
  // Both in place for n elements, a multiple of the last axis, from `first` on.
  void ForwardPart(int64_t first, int64_t n, float* y) const;
  void BackwardPart(int64_t first, int64_t n, float* dy) const;

 private:
  enum class Kind { kNone, kOfResult, kOfArgument, kSoftmax, kLogSoftmax };
  void ForwardOf(const float* x, int64_t n, float* y, float* derivative) const;
  void BackwardOf(const float* y, const float* derivative, const float* dy, int64_t n,
                  float* dx) const;

  Kind kind_ = Kind::kNone;
  ActivationForm form_;
  const PlanValue& output_;
  int64_t size_;
  int64_t width_;  // of the last axis
  const Kernels& kernels_;
  PlanBuffer* derivatives_ = nullptr;  // null: no backward pass, or not needed
};

// Whether the node of a layer with this activation applies it.
inline bool AppliesActivation(const ActivationSpec& activation, const PlanNode& node) {
  return AppliesActivation(activation, node.linear);
}

}  // namespace hopper
