#include "model/planned/planned_op.h"

#include <cstring>

namespace hopper {

PlanBuffer* PlanNode::Scratch(const Shape& sizes, During during) {
  requests_.push_back({std::make_unique<PlanBuffer>(), during});
  PlanBuffer* buffer = requests_.back().buffer.get();
  buffer->size = PlanFloats(sizes);
  return buffer;
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
