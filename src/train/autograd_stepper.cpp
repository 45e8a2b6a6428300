#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <cmath>

#include "base/pieces.h"
#include "loss/loss.h"
#include "train/stepper.h"
#include "train/sums.h"

namespace hopper {
namespace {

// Leaf tensors over the state's parameters, and one flat buffer of gradients.
class AutogradStepper : public Stepper {
 public:
  AutogradStepper(const StepperSetup& setup, ModelState* state)
      : Stepper(setup), gradients_(static_cast<size_t>(spec_.flat_size)) {
    {
      const at::NoGradGuard no_grad;
      weights_ = setup.network->BindWeights(state->params.data());
      gradient_views_ = setup.network->BindWeights(gradients_.data());
    }
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (spec_.weights[i].slot_offset < 0) continue;
      weights_[i].set_requires_grad(true);
      trainable_.push_back(i);
    }
    context_.training = true;
    context_.seed = setup.seed;
    context_.linear = setup.objective->linear;
  }

  bool Run(ModelState* state, const Partition& data, const int32_t* rows, int64_t n, bool metrics,
           MetricSums* sums) override {
    const at::AutoGradMode with_gradients(true);
    Load(data, rows, n);
    context_.step = state->step;
    context_.dropout_factor = DropoutFactor(state->step);
    std::vector<at::Tensor> penalties;
    context_.penalties = &penalties;
    const CompileParams& compile = setup_.compile;
    const at::Tensor output = setup_.network->Forward(batch_.input(), weights_, context_);
    const at::Tensor loss = LossPerExample(*setup_.objective, output, batch_.targets());
    double sum = WeightedSum(loss.detach().contiguous().const_data_ptr<float>(), n) +
                 PenaltySum(RegularizationLoss(setup_.spans, state->params.data()), n);
    for (const at::Tensor& penalty : penalties) sum += penalty.item<double>();
    sums->loss += sum;
    sums->examples += n;
    if (!std::isfinite(sum)) return false;
    if (metrics) {
      const at::NoGradGuard no_grad;
      AddMetrics(compile, spec_, *setup_.objective, output.detach(), batch_.targets(), sums);
    }
    if (loss.requires_grad()) {
      loss.backward(at::from_blob(factors(), {n}, at::TensorOptions().dtype(at::kFloat)));
      CollectGradients();
      ApplyOptimizer(compile.optimizer, state->step, setup_.spans, state->params.data(),
                     gradients_.data(), state->slots.data(), spec_.slot_size, /*shadow=*/nullptr,
                     Team::Current());
    }
    ++state->step;
    state->examples += n;
    return true;
  }

 private:
  // Moves what backward left in the leaves into the flat buffer. The leaves start each step
  // without a gradient, so that autograd hands its result over instead of adding it to zeros.
  void CollectGradients() {
    for (const size_t i : trainable_) {
      const WeightSpec& weight = spec_.weights[i];
      at::Tensor& gradient = weights_[i].mutable_grad();
      float* to = gradients_.data() + weight.offset;
      const auto bytes = static_cast<size_t>(weight.size()) * sizeof(float);
      if (!gradient.defined()) {
        ZeroInPieces(to, bytes);
        continue;
      }
      if (gradient.strides() == gradient_views_[i].strides()) {
        CopyInPieces(to, gradient.data_ptr<float>(), bytes);
      } else {
        const at::NoGradGuard no_grad;
        gradient_views_[i].copy_(gradient);
      }
      gradient.reset();
    }
  }

  AlignedArray<float> gradients_;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> gradient_views_;
  std::vector<size_t> trainable_;
  ForwardContext context_;
};

}  // namespace

std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup, ModelState* state) {
  return std::make_unique<AutogradStepper>(setup, state);
}

}  // namespace hopper
