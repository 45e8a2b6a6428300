#include "model/planned/planned_activation.h"

#include <cstring>
#include <limits>
#include <utility>

namespace hopper {
namespace {

// The kernel for an activation of single elements whose gradient is a function of its result;
// false where there is none.
bool UnaryOf(const ActivationSpec& spec, UnaryKind* kind, float* alpha) {
  *alpha = static_cast<float>(spec.alpha);
  switch (spec.kind) {
    case Activation::kRelu:
      *kind = spec.alpha == 0.0 ? UnaryKind::kRelu : UnaryKind::kLeakyRelu;
      return spec.threshold == 0.0 && spec.max_value < 0.0 && spec.alpha >= 0.0;
    case Activation::kLeakyRelu:
      *kind = UnaryKind::kLeakyRelu;
      return spec.alpha >= 0.0;
    case Activation::kElu:
    case Activation::kCelu:  // of alpha 1, which is elu
      *kind = UnaryKind::kElu;
      return spec.alpha >= 0.0 && (spec.kind == Activation::kElu || spec.alpha == 1.0);
    case Activation::kHardShrink:
    case Activation::kSoftShrink:
      *kind =
          spec.kind == Activation::kHardShrink ? UnaryKind::kHardShrink : UnaryKind::kSoftShrink;
      *alpha = 0.5F;
      return true;
    default:
      break;
  }
  constexpr std::pair<Activation, UnaryKind> kPlain[] = {
      {Activation::kRelu6, UnaryKind::kRelu6},
      {Activation::kSelu, UnaryKind::kSelu},
      {Activation::kSoftplus, UnaryKind::kSoftplus},
      {Activation::kSoftsign, UnaryKind::kSoftsign},
      {Activation::kExponential, UnaryKind::kExponential},
      {Activation::kHardSigmoid, UnaryKind::kHardSigmoid},
      {Activation::kHardSigmoid2, UnaryKind::kHardSigmoid2},
      {Activation::kSigmoid, UnaryKind::kSigmoid},
      {Activation::kTanh, UnaryKind::kTanh},
      {Activation::kHardTanh, UnaryKind::kHardTanh},
      {Activation::kLogSigmoid, UnaryKind::kLogSigmoid},
      {Activation::kSquareplus, UnaryKind::kSquareplus},
      {Activation::kSparsePlus, UnaryKind::kSparsePlus},
      {Activation::kSparseSigmoid, UnaryKind::kSparseSigmoid},
  };
  for (const auto& [activation, unary] : kPlain) {
    if (activation != spec.kind) continue;
    *kind = unary;
    return true;
  }
  return false;
}

// The same for a gradient that needs the argument.
bool SlopeOf(const ActivationSpec& spec, SlopeKind* kind) {
  switch (spec.kind) {
    case Activation::kRelu:
      *kind = SlopeKind::kRelu;
      return spec.threshold != 0.0 || spec.max_value >= 0.0;
    case Activation::kSwish:
      *kind = SlopeKind::kSwish;
      return true;
    case Activation::kGelu:
      *kind = SlopeKind::kGelu;
      return true;
    case Activation::kGeluTanh:
      *kind = SlopeKind::kGeluTanh;
      return true;
    case Activation::kMish:
      *kind = SlopeKind::kMish;
      return true;
    case Activation::kHardSilu:
      *kind = SlopeKind::kHardSilu;
      return true;
    case Activation::kTanhShrink:
      *kind = SlopeKind::kTanhShrink;
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
  UnaryKind unary;
  SlopeKind slope;
  float alpha;
  const bool by_row = spec.kind == Activation::kSoftmax || spec.kind == Activation::kLogSoftmax;
  return !applies || UnaryOf(spec, &unary, &alpha) || SlopeOf(spec, &slope) ||
         (by_row && IsLastAxis(spec, output));
}

PlannedActivation::PlannedActivation(PlanNode* node, const ActivationSpec& spec)
    : output_(*node->output),
      size_(output_.size),
      width_(output_.shape.empty() ? 1 : output_.shape.back()),
      kernels_(*node->kernels) {
  if (!AppliesActivation(spec, *node)) return;
  if (UnaryOf(spec, &unary_, &alpha_)) {
    kind_ = Kind::kUnary;
  } else if (SlopeOf(spec, &with_slope_)) {
    kind_ = Kind::kSlope;
    slope_args_.slope = static_cast<float>(spec.alpha);
    slope_args_.threshold = static_cast<float>(spec.threshold);
    slope_args_.most = spec.max_value < 0.0 ? std::numeric_limits<float>::infinity()
                                            : static_cast<float>(spec.max_value);
    if (node->backward) slopes_ = node->Scratch({size_}, PlanNode::During::kBoth);
  } else {
    kind_ = spec.kind == Activation::kSoftmax ? Kind::kSoftmax : Kind::kLogSoftmax;
  }
}

void PlannedActivation::Forward(const float* x, float* y) const {
  switch (kind_) {
    case Kind::kNone:
      if (x != y) std::memcpy(y, x, sizeof(float) * static_cast<size_t>(size_));
      return;
    case Kind::kUnary:
      return kernels_.unary(unary_, alpha_, x, size_, y);
    case Kind::kSlope:
      return kernels_.unary_slope(with_slope_, slope_args_, x, size_, y,
                                  slopes_ == nullptr ? nullptr : slopes_->data);
    case Kind::kSoftmax:
      return kernels_.softmax(x, size_ / width_, width_, y);
    case Kind::kLogSoftmax:
      return kernels_.log_softmax(x, size_ / width_, width_, y);
  }
}

void PlannedActivation::BackwardOf(const float* y, const float* slope, const float* dy, int64_t n,
                                   float* dx) const {
  switch (kind_) {
    case Kind::kNone:
      if (dx != dy) std::memcpy(dx, dy, sizeof(float) * static_cast<size_t>(n));
      return;
    case Kind::kUnary:
      return kernels_.unary_gradient(unary_, alpha_, y, dy, n, dx);
    case Kind::kSlope:
      if (dx != dy) std::memcpy(dx, dy, sizeof(float) * static_cast<size_t>(n));
      return kernels_.multiply(slope, n, dx);
    case Kind::kSoftmax:
      return kernels_.softmax_gradient(y, dy, n / width_, width_, /*accumulate=*/false, dx);
    case Kind::kLogSoftmax:
      return kernels_.log_softmax_gradient(y, dy, n / width_, width_, dx);
  }
}

void PlannedActivation::BackwardPart(int64_t first, int64_t n, float* dy) const {
  BackwardOf(output_.value->data + first, slopes_ == nullptr ? nullptr : slopes_->data + first, dy,
             n, dy);
}

void PlannedActivation::Backward(const float* y, const float* dy, float* dx) const {
  BackwardOf(y, slopes_ == nullptr ? nullptr : slopes_->data, dy, size_, dx);
}

}  // namespace hopper
