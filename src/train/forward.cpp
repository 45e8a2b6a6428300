#include "train/forward.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "model/batch_sizes.h"
#include "train/plan_memory.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {

ForwardPass::ForwardPass(std::shared_ptr<const Network> network, const DataDesc& data,
                         const float* flat, int64_t rows, uint64_t linear)
    : network_(std::move(network)),
      data_(data),
      batch_(std::min(EvaluationBatch(network_->spec()), rows)),
      linear_(linear),
      flat_(const_cast<float*>(flat)),
      planned_(PlannedStepsAreUsed()) {
  const c10::InferenceMode inference;
  const ModelSpec& spec = network_->spec();
  weights_ = network_->BindWeights(const_cast<float*>(flat));
  input_ = at::empty(WithBatch(batch_, spec.input_shape()), at::kFloat);
}

int64_t ForwardPass::Bytes(const Network& network, const DataDesc& data, int64_t rows) {
  const ModelSpec& spec = network.spec();
  PlanOptions options;
  options.batch = std::min(EvaluationBatch(spec), rows);
  options.measured_parts = 1;
  const double input = static_cast<double>(options.batch) * static_cast<double>(data.x_elements()) *
                       sizeof(float) * kRoundedUp;
  double bytes = input + StepMemory(network, options);
  if (options.batch > 1 && PlannedStepsAreUsed()) {
    // The last batch, which has a plan of its own.
    --options.batch;
    bytes += StepMemory(network, options);
  }
  return Saturated(bytes);
}

void ForwardPass::Run(const void* x, int64_t n, float* outputs) {
  const c10::InferenceMode inference;
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
                    input_.data_ptr<float>());
    if (planned_) {
      std::unique_ptr<StepPlan>& plan = count == batch_ ? full_ : last_;
      if (plan == nullptr || (count != batch_ && count != last_size_)) {
        PlanOptions options;
        options.batch = count;
        options.linear = linear_;
        plan.reset();
        plan = std::make_unique<StepPlan>(*network_, options);
        if (count != batch_) last_size_ = count;
        plan->SetInput(input_.data_ptr<float>());
      }
      StepArguments step;
      step.params = flat_;
      plan->Forward(step);
      take(plan->output(), first, count);
      continue;
    }
    const at::Tensor input = count == batch_ ? input_ : input_.narrow(0, 0, count);
    ForwardContext context;
    context.linear = linear_;
    const at::Tensor output = network_->Forward(input, weights_, context).contiguous();
    if (output.numel() != count * width) {
      throw Error(ErrorCode::kInternal, "model's output does not have the shape that it states");
    }
    take(output.data_ptr<float>(), first, count);
  }
}

}  // namespace hopper
