#include "autograd/autograd_steps.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <cstring>

#include "autograd/tensor_objective.h"
#include "base/pieces.h"
#include "model/batch_sizes.h"
#include "model/network/network.h"
#include "optim/gradient_rows.h"
#include "train/backend.h"
#include "train/sums.h"

namespace hopper {
namespace {

at::Tensor InputTensor(const ModelSpec& spec, const LoadedBatch& batch) {
  return at::from_blob(const_cast<float*>(batch.input()),
                       WithBatch(batch.size(), spec.input_shape()),
                       at::TensorOptions().dtype(at::kFloat));
}

void AddOutputMetrics(const CompileParams& compile, const ModelSpec& spec,
                      const Objective& objective, const at::Tensor& output,
                      const LoadedBatch& batch, const LossBackend& backend, MetricSums* sums) {
  const at::Tensor dense = output.detach().contiguous();
  PlannedObjective measured(objective, batch.size(), KernelsHere(), backend);
  measured.Run(dense.const_data_ptr<float>(), batch.targets(), nullptr, nullptr);
  AddMetrics(compile, spec, measured, sums);
}

// Leaf tensors over the state's parameters, and one flat buffer of gradients.
class AutogradStepper : public Stepper {
 public:
  AutogradStepper(const StepperSetup& setup, ModelState* state)
      : Stepper(setup),
        network_(dynamic_cast<const Network&>(*setup.network)),
        gradients_(static_cast<size_t>(spec_.flat_size)) {
    {
      const at::NoGradGuard no_grad;
      weights_ = network_.BindWeights(state->params.data());
      gradient_views_ = network_.BindWeights(gradients_.data());
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
    const at::Tensor output = network_.Forward(InputTensor(spec_, batch_), weights_, context_);
    const at::Tensor loss =
        LossPerExample(*setup_.objective, output, TensorsOf(batch_.targets(), n));
    double sum = WeightedSum(loss.detach().contiguous().const_data_ptr<float>(), n) +
                 PenaltySum(RegularizationLoss(setup_.spans, state->params.data()), n);
    for (const at::Tensor& penalty : penalties) sum += penalty.item<double>();
    sums->loss += sum;
    sums->examples += n;
    if (!std::isfinite(sum)) return false;
    if (metrics) {
      AddOutputMetrics(compile, spec_, *setup_.objective, output, batch_, setup_.backend, sums);
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

  const Network& network_;
  AlignedArray<float> gradients_;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> gradient_views_;
  std::vector<size_t> trainable_;
  ForwardContext context_;
};

class AutogradEvaluator : public Evaluator {
 public:
  explicit AutogradEvaluator(const EvaluatorSetup& setup)
      : setup_(setup),
        network_(dynamic_cast<const Network&>(*setup.network)),
        of_weights_(RegularizationLoss(setup.spans, setup.flat)) {
    const c10::InferenceMode inference;
    weights_ = network_.BindWeights(setup.flat);
    context_.seed = setup.seed;
    context_.linear = setup.objective->linear;
  }

  void Add(const LoadedBatch& batch, MetricSums* sums) override {
    const c10::InferenceMode inference;
    const ModelSpec& spec = network_.spec();
    const int64_t n = batch.size();
    std::vector<at::Tensor> penalties;
    context_.penalties = &penalties;
    const at::Tensor output = network_.Forward(InputTensor(spec, batch), weights_, context_);
    sums->loss += PenaltySum(of_weights_, n);
    for (const at::Tensor& penalty : penalties) sums->loss += penalty.item<double>();
    const at::Tensor losses =
        LossPerExample(*setup_.objective, output, TensorsOf(batch.targets(), n)).contiguous();
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<double>(losses.const_data_ptr<float>()[i]);
    }
    sums->loss += sum;
    AddOutputMetrics(setup_.compile, spec, *setup_.objective, output, batch, setup_.backend, sums);
  }

 private:
  const EvaluatorSetup setup_;
  const Network& network_;
  const double of_weights_;
  std::vector<at::Tensor> weights_;
  ForwardContext context_;
};

}  // namespace

std::unique_ptr<Stepper> MakeAutogradStepper(const StepperSetup& setup, ModelState* state) {
  return std::make_unique<AutogradStepper>(setup, state);
}

std::unique_ptr<Evaluator> MakeAutogradEvaluator(const EvaluatorSetup& setup) {
  return std::make_unique<AutogradEvaluator>(setup);
}

void RunLossByAutograd(const LossBatch& batch) {
  const c10::InferenceMode no_inference(false);
  const auto view = [&](float* data) {
    return at::from_blob(data, WithBatch(batch.batch, batch.shape),
                         at::TensorOptions().dtype(at::kFloat));
  };
  const bool with_gradient = batch.gradient != nullptr;
  at::Tensor leaf = view(const_cast<float*>(batch.output));
  at::Tensor loss;
  {
    const at::AutoGradMode gradients(with_gradient);
    if (with_gradient) leaf.set_requires_grad(true);
    loss = LossPerExample(batch.loss, leaf, batch.logits, TensorsOf(batch.targets, batch.batch),
                          batch.options);
    if (with_gradient) {
      loss.backward(at::from_blob(const_cast<float*>(batch.factors), {batch.batch},
                                  at::TensorOptions().dtype(at::kFloat)));
    }
  }
  const at::NoGradGuard no_grad;
  const at::Tensor dense = loss.detach().contiguous();
  std::memcpy(batch.losses, dense.const_data_ptr<float>(),
              static_cast<size_t>(batch.batch) * sizeof(float));
  if (with_gradient) view(batch.gradient).copy_(leaf.grad());
}

}  // namespace hopper
