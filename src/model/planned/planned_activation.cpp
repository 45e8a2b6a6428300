#include "model/planned/planned_activation.h"

#include <cstring>
#include <limits>

#include "activation/table.h"

namespace hopper {
namespace {

bool IsLastAxis(const ActivationSpec& spec, const Shape& output) {
  return !output.empty() && (spec.axis == -1 || spec.axis == static_cast<int>(output.size()));
}

}  // namespace

bool PlannedActivation::Supports(const ActivationSpec& spec, bool applies, const Shape& output) {
  const bool by_row = spec.kind == Activation::kSoftmax || spec.kind == Activation::kLogSoftmax;
  return !applies || FormOf(spec).place >= 0 || (by_row && IsLastAxis(spec, output));
}

PlannedActivation::PlannedActivation(PlanNode* node, const ActivationSpec& spec)
    : output_(*node->output),
      size_(output_.size),
      width_(output_.shape.empty() ? 1 : output_.shape.back()),
      kernels_(*node->kernels) {
  node->takes_next = !AppliesActivation(spec, *node) && node->next != nullptr;
  const ActivationSpec& own = node->takes_next ? *node->next : spec;
  if (!node->takes_next && !AppliesActivation(spec, *node)) return;
  form_ = FormOf(own);
  if (form_.place >= 0) {
    kind_ = form_.of_result ? Kind::kOfResult : Kind::kOfArgument;
    if (!form_.of_result && node->backward) {
      derivatives_ = node->Scratch({size_}, PlanNode::During::kBoth);
    }
  } else {
    kind_ = own.kind == Activation::kSoftmax ? Kind::kSoftmax : Kind::kLogSoftmax;
  }
}

bool PlannedActivation::relu() const {
  return kind_ == Kind::kOfResult && form_.place == kPlainRelu;
}

bool PlannedActivation::Clips(float* least, float* most) const {
  if (kind_ != Kind::kOfResult) return false;
  *least = 0.0F;
  *most = form_.place == kRelu6 ? 6.0F : std::numeric_limits<float>::infinity();
  return form_.place == kRelu6 || form_.place == kPlainRelu;
}

void PlannedActivation::ForwardOf(const float* x, int64_t n, float* y, float* derivative) const {
  switch (kind_) {
    case Kind::kNone:
      if (x != y) std::memcpy(y, x, sizeof(float) * static_cast<size_t>(n));
      return;
    case Kind::kOfResult:
    case Kind::kOfArgument:
      return kernels_.activate(form_, x, n, y, derivative);
    case Kind::kSoftmax:
      return kernels_.softmax(x, n / width_, width_, y);
    case Kind::kLogSoftmax:
      return kernels_.log_softmax(x, n / width_, width_, y);
  }
}

void PlannedActivation::BackwardOf(const float* y, const float* derivative, const float* dy,
                                   int64_t n, float* dx) const {
  switch (kind_) {
    case Kind::kNone:
      if (dx != dy) std::memcpy(dx, dy, sizeof(float) * static_cast<size_t>(n));
      return;
    case Kind::kOfResult:
      return kernels_.activate_gradient(form_, y, dy, n, dx);
    case Kind::kOfArgument:
      if (dx != dy) std::memcpy(dx, dy, sizeof(float) * static_cast<size_t>(n));
      return kernels_.multiply(derivative, n, dx);
    case Kind::kSoftmax:
      return kernels_.softmax_gradient(y, dy, n / width_, width_, /*accumulate=*/false, dx);
    case Kind::kLogSoftmax:
      return kernels_.log_softmax_gradient(y, dy, n / width_, width_, dx);
  }
}

void PlannedActivation::Forward(const float* x, float* y) const {
  ForwardOf(x, size_, y, derivatives_ == nullptr ? nullptr : derivatives_->data);
}

void PlannedActivation::ForwardPart(int64_t first, int64_t n, float* y) const {
  ForwardOf(y, n, y, derivatives_ == nullptr ? nullptr : derivatives_->data + first);
}

void PlannedActivation::BackwardPart(int64_t first, int64_t n, float* dy) const {
  BackwardOf(output_.value->data + first,
             derivatives_ == nullptr ? nullptr : derivatives_->data + first, dy, n, dy);
}

void PlannedActivation::Backward(const float* y, const float* dy, float* dx) const {
  BackwardOf(y, derivatives_ == nullptr ? nullptr : derivatives_->data, dy, size_, dx);
}

}  // namespace hopper
