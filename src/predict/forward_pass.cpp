#include "predict/forward_pass.h"

#include <algorithm>
#include <cstring>

#include "model/batch_sizes.h"
#include "model/planned/plan_memory.h"

namespace hopper {

ForwardPass::ForwardPass(std::shared_ptr<const PlannedNetwork> network, const DataDesc& data,
                         const float* flat, int64_t rows, uint64_t linear)
    : network_(std::move(network)),
      data_(data),
      batch_(std::min(EvaluationBatch(network_->spec()), rows)),
      linear_(linear),
      input_(batch_ * ElementCount(network_->spec().input_shape())),
      flat_(const_cast<float*>(flat)) {}

int64_t ForwardPass::Bytes(const PlannedNetwork& network, const DataDesc& data, int64_t rows) {
  const ModelSpec& spec = network.spec();
  PlanOptions options;
  options.batch = std::min(EvaluationBatch(spec), rows);
  options.measured_parts = 1;
  const double input = static_cast<double>(options.batch) * static_cast<double>(data.x_elements()) *
                       sizeof(float) * kRoundedUp;
  double bytes = input + StepMemory(network, options);
  if (options.batch > 1) {
    // The last batch, which has a plan of its own.
    --options.batch;
    bytes += StepMemory(network, options);
  }
  return Saturated(bytes);
}

void ForwardPass::Run(const void* x, int64_t n, float* outputs) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  const int64_t width = ElementCount(network_->spec().output_shape());
  const int64_t wanted = network_->spec().OutputValues();
  // Without masks and members, which come last in a row.
  const auto take = [&](const float* from, int64_t first, int64_t count) {
    const int64_t rows = wanted == width ? 1 : count;
    const auto bytes = static_cast<size_t>(wanted * count / rows) * sizeof(float);
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(outputs + (first + i) * wanted, from + i * width, bytes);
    }
  };
  for (int64_t first = 0; first < n; first += batch_) {
    const int64_t count = std::min(batch_, n - first);
    ConvertFeatures(data_, bytes + static_cast<size_t>(first) * data_.x_bytes(), count,
                    input_.data());
    std::unique_ptr<StepPlan>& plan = count == batch_ ? full_ : last_;
    if (plan == nullptr || (count != batch_ && count != last_size_)) {
      PlanOptions options;
      options.batch = count;
      options.linear = linear_;
      plan.reset();
      plan = std::make_unique<StepPlan>(*network_, options);
      if (count != batch_) last_size_ = count;
      plan->SetInput(input_.data());
    }
    StepArguments step;
    step.params = flat_;
    plan->Forward(step);
    take(plan->output(), first, count);
  }
}

}  // namespace hopper
