#include "model/planned/planned_op.h"

#include <cstring>

namespace hopper {

std::unique_ptr<PlanNode> PlanNode::Inner() const {
  auto inner = std::make_unique<PlanNode>();
  inner->batch = batch;
  inner->training = training;
  inner->backward = backward;
  inner->linear = linear;
  inner->form = form;
  inner->seed = seed;
  inner->stream = stream;
  inner->kernels = kernels;
  inner->bf16 = bf16;
  inner->bf16_everywhere = bf16_everywhere;
  inner->team = team;
  inner->measured_parts = measured_parts;
  return inner;
}

void PlanNode::TakeRequests(PlanNode* inner) {
  for (Request& request : inner->requests_) requests_.push_back(std::move(request));
  inner->requests_.clear();
}

PlanBuffer* PlanNode::Scratch(const Shape& sizes, During during) {
  requests_.push_back({std::make_unique<PlanBuffer>(), during});
  PlanBuffer* buffer = requests_.back().buffer.get();
  buffer->size = PlanFloats(sizes);
  return buffer;
}

void PiecewiseOp::Forward(const StepArguments& step) {
  if (surveys()) SurveyForward(0, batch_);
  BeginForward(step);
  ForwardPiece(step, 0, batch_);
}

void PiecewiseOp::Backward(const StepArguments& step) {
  if (surveys()) SurveyBackward(0, batch_);
  BeginBackward(step);
  BackwardPiece(step, 0, batch_);
  EndBackward(step);
}

void PlanNode::DeliverGradient(const float* gradient, int64_t n, size_t weight,
                               const StepArguments& step) const {
  float* to = step.gradients + weights[weight].offset;
  if (weight_accumulates[weight]) {
    kernels->add(gradient, n, to);
  } else {
    std::memcpy(to, gradient, static_cast<size_t>(n) * sizeof(float));
  }
}

}  // namespace hopper
