#include "model/layers/planned_activation.h"

#include <cstring>

namespace hopper {
namespace {

// The kernel for an activation of single elements; false where there is none.
bool UnaryOf(const ActivationSpec& spec, UnaryKind* kind) {
  switch (spec.kind) {
    case Activation::kRelu:
      *kind = spec.alpha == 0.0 ? UnaryKind::kRelu : UnaryKind::kLeakyRelu;
      return spec.threshold == 0.0 && spec.max_value < 0.0 && spec.alpha >= 0.0;
    case Activation::kRelu6:
      *kind = UnaryKind::kRelu6;
      return true;
    case Activation::kLeakyRelu:
      *kind = UnaryKind::kLeakyRelu;
      return spec.alpha >= 0.0;
    case Activation::kElu:
      *kind = UnaryKind::kElu;
      return spec.alpha >= 0.0;
    case Activation::kSelu:
      *kind = UnaryKind::kSelu;
      return true;
    case Activation::kSoftplus:
      *kind = UnaryKind::kSoftplus;
      return true;
    case Activation::kSoftsign:
      *kind = UnaryKind::kSoftsign;
      return true;
    case Activation::kExponential:
      *kind = UnaryKind::kExponential;
      return true;
    case Activation::kHardSigmoid:
      *kind = UnaryKind::kHardSigmoid;
      return true;
    case Activation::kHardSigmoid2:
      *kind = UnaryKind::kHardSigmoid2;
      return true;
    case Activation::kSigmoid:
      *kind = UnaryKind::kSigmoid;
      return true;
    case Activation::kTanh:
      *kind = UnaryKind::kTanh;
      return true;
    default:
      return false;
  }
}

bool IsLastAxis(const ActivationSpec& spec, const Shape& output) {
  return !output.empty() && (spec.axis == -1 || spec.axis == static_cast<int>(output.size()));
}

}  // namespace

bool PlannedActivation::Supports(const ActivationSpec& spec, bool applies, const Shape& output) {
  UnaryKind kind;
  return !applies || UnaryOf(spec, &kind) ||
         (spec.kind == Activation::kSoftmax && IsLastAxis(spec, output));
}

PlannedActivation::PlannedActivation(const ActivationSpec& spec, bool applies,
                                     const PlanValue& output, const Kernels& kernels)
    : alpha_(static_cast<float>(spec.alpha)),
      size_(output.size),
      width_(output.shape.empty() ? 1 : output.shape.back()),
      kernels_(kernels) {
  if (!applies) return;
  kind_ = UnaryOf(spec, &unary_) ? Kind::kUnary : Kind::kSoftmax;
}

void PlannedActivation::Forward(const float* x, float* y) const {
  switch (kind_) {
    case Kind::kNone:
      if (x != y) std::memcpy(y, x, sizeof(float) * static_cast<size_t>(size_));
      return;
    case Kind::kUnary:
      return kernels_.unary(unary_, alpha_, x, size_, y);
    case Kind::kSoftmax:
      return kernels_.softmax(x, size_ / width_, width_, y);
  }
}

void PlannedActivation::BackwardPart(const float* y, float* dy, int64_t n) const {
  switch (kind_) {
    case Kind::kNone:
      return;
    case Kind::kUnary:
      return kernels_.unary_gradient(unary_, alpha_, y, dy, n, dy);
    case Kind::kSoftmax:
      return kernels_.softmax_gradient(y, dy, n / width_, width_, /*accumulate=*/false, dy);
  }
}

void PlannedActivation::Backward(const float* y, const float* dy, float* dx) const {
  switch (kind_) {
    case Kind::kNone:
      if (dx != dy) std::memcpy(dx, dy, sizeof(float) * static_cast<size_t>(size_));
      return;
    case Kind::kUnary:
      return kernels_.unary_gradient(unary_, alpha_, y, dy, size_, dx);
    case Kind::kSoftmax:
      return kernels_.softmax_gradient(y, dy, size_ / width_, width_, /*accumulate=*/false, dx);
  }
}

}  // namespace hopper
