// Activations in planned ops, on top of the op that computes their argument.
#pragma once

#include "model/layers/activation.h"
#include "model/planned_op.h"

namespace hopper {

// Immutable. The gradient is a function of the result, so that the argument need not be kept and
// the result takes its place.
class PlannedActivation {
 public:
  // False where an activation has no planned form; autograd then runs the layer. `applies` is
  // AppliesActivation() of the node: false leaves the activation out.
  static bool Supports(const ActivationSpec& spec, bool applies, const Shape& output);
  PlannedActivation(const ActivationSpec& spec, bool applies, const PlanValue& output,
                    const Kernels& kernels);

  // Identity: neither pass has anything to do.
  bool none() const { return kind_ == Kind::kNone; }
  // The op can apply it itself, as GemmArgs::relu.
  bool relu() const { return kind_ == Kind::kUnary && unary_ == UnaryKind::kRelu; }

  // y = f(x), also in place; all elements of the output.
  void Forward(const float* x, float* y) const;
  // dx = dy * f'(x), also in place.
  void Backward(const float* y, const float* dy, float* dx) const;
  // In place for n elements, a multiple of the last axis.
  void BackwardPart(const float* y, float* dy, int64_t n) const;

 private:
  enum class Kind { kNone, kUnary, kSoftmax };
  Kind kind_ = Kind::kNone;
  UnaryKind unary_ = UnaryKind::kRelu;
  float alpha_ = 0.0F;
  int64_t size_;
  int64_t width_;  // of the last axis
  const Kernels& kernels_;
};

// Whether the node of a layer with this activation applies it.
inline bool AppliesActivation(const ActivationSpec& activation, const PlanNode& node) {
  ForwardContext context;
  context.linear = node.linear;
  return AppliesActivation(activation, context);
}

}  // namespace hopper
