// Training over one partition.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "loss/loss.h"
#include "train/batch_tensors.h"
#include "train/sums.h"
#include "train/trainer.h"

namespace hopper {

namespace {

// True where every float is finite. An exponent of all ones says that one is not.
bool AllFinite(const float* values, size_t n) {
  constexpr uint32_t kExponent = 0x7f800000U;
  uint32_t largest = 0;
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    largest = std::max(largest, bits & kExponent);
  }
  return largest != kExponent;
}

// What the steps of one visit share: leaf tensors over the state's parameters, one flat buffer
// of gradients, the tensors of a batch. Lives on one thread.
class Stepper {
 public:
  Stepper(const Network& network, const CompileParams& compile, const DataDesc& data,
          const std::vector<TrainableSpan>& spans, const std::vector<float>& class_weights,
          bool logits, uint64_t seed, int64_t capacity, ModelState* state)
      : network_(network),
        spec_(network.spec()),
        compile_(compile),
        spans_(spans),
        class_weights_(class_weights),
        state_(state),
        batch_(data, spec_.input_shape(), spec_.output_shape(), capacity),
        gradients_(static_cast<size_t>(spec_.flat_size)),
        all_factors_(at::empty({capacity}, at::kFloat)) {
    {
      const at::NoGradGuard no_grad;
      weights_ = network.BindWeights(state->params.data());
      gradient_views_ = network.BindWeights(gradients_.data());
    }
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (spec_.weights[i].slot_offset < 0) continue;
      weights_[i].set_requires_grad(true);
      trainable_.push_back(i);
    }
    if (!class_weights.empty()) classes_.resize(static_cast<size_t>(capacity));
    context_.training = true;
    context_.seed = seed;
    context_.linear = logits;
  }

  // One step; false where the loss is not finite.
  bool Run(const Partition& data, const int32_t* rows, int64_t n, bool metrics, MetricSums* sums) {
    batch_.Load(data, rows, n);
    SetFactors(n);
    context_.step = state_->step;
    const at::Tensor output = network_.Forward(batch_.input(), weights_, context_);
    at::Tensor loss = LossPerExample(compile_.loss, output, context_.linear, spec_.final_activation,
                                     batch_.targets(), compile_.loss_options);
    const double sum = SumOfLoss(loss, n);
    sums->loss += sum;
    sums->examples += n;
    if (!std::isfinite(sum)) return false;
    if (metrics) {
      const at::NoGradGuard no_grad;
      AddMetrics(compile_, spec_, output.detach(), context_.linear, batch_.targets(), sums);
    }
    if (loss.requires_grad()) {
      // The loss is the mean over the real batch: each example's loss weighs 1 / n.
      loss.backward(factors_);
      CollectGradients();
      ApplyOptimizer(compile_.optimizer, state_->step, spans_, state_->params.data(),
                     gradients_.data(), state_->slots.data(), spec_.slot_size);
    }
    ++state_->step;
    state_->examples += n;
    return true;
  }

 private:
  // The gradient of the mean by each example's loss.
  void SetFactors(int64_t n) {
    const bool new_size = n != size_;
    if (new_size) {
      size_ = n;
      factors_ = all_factors_.narrow(0, 0, n);
    }
    if (!new_size && class_weights_.empty()) return;
    float* factors = all_factors_.data_ptr<float>();
    const float mean = 1.0F / static_cast<float>(n);
    if (class_weights_.empty()) {
      std::fill_n(factors, n, mean);
      return;
    }
    batch_.Classes(classes_.data());
    for (int64_t i = 0; i < n; ++i) factors[i] = WeightOf(classes_[static_cast<size_t>(i)]) * mean;
  }

  float WeightOf(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(class_weights_.size())
               ? class_weights_[static_cast<size_t>(index)]
               : 1.0F;
  }

  double SumOfLoss(const at::Tensor& loss, int64_t n) const {
    const at::NoGradGuard no_grad;
    if (class_weights_.empty()) return SumOf(loss);
    const at::Tensor dense = loss.contiguous();
    const float* values = dense.data_ptr<float>();
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<double>(values[i]) *
             static_cast<double>(WeightOf(classes_[static_cast<size_t>(i)]));
    }
    return sum;
  }

  // Moves what backward left in the leaves into the flat buffer. The leaves start each step
  // without a gradient, so that autograd hands its result over instead of adding it to zeros.
  void CollectGradients() {
    for (const size_t i : trainable_) {
      const WeightSpec& weight = spec_.weights[i];
      at::Tensor& gradient = weights_[i].mutable_grad();
      float* to = gradients_.data() + weight.offset;
      const auto bytes = static_cast<size_t>(weight.size()) * sizeof(float);
      if (!gradient.defined()) {
        std::memset(to, 0, bytes);
        continue;
      }
      if (gradient.strides() == gradient_views_[i].strides()) {
        std::memcpy(to, gradient.data_ptr<float>(), bytes);
      } else {
        const at::NoGradGuard no_grad;
        gradient_views_[i].copy_(gradient);
      }
      gradient.reset();
    }
  }

  const Network& network_;
  const ModelSpec& spec_;
  const CompileParams& compile_;
  const std::vector<TrainableSpan>& spans_;
  const std::vector<float>& class_weights_;
  ModelState* state_;
  BatchTensors batch_;
  AlignedArray<float> gradients_;
  std::vector<at::Tensor> weights_;
  std::vector<at::Tensor> gradient_views_;
  std::vector<size_t> trainable_;
  at::Tensor all_factors_;
  at::Tensor factors_;
  int64_t size_ = 0;
  std::vector<int64_t> classes_;
  ForwardContext context_;
};

}  // namespace

VisitEnd Trainer::Visit(ModelState* state, const Partition& data, int partition,
                        const std::atomic<bool>& cancel, MetricSums* sums, bool metrics) const {
  if (data.n == 0) return VisitEnd::kDone;
  const at::AutoGradMode with_gradients(true);
  const int64_t capacity = std::min(fit_.batch_size, data.n);
  Stepper stepper(*network_, compile_, data_, spans_, class_weights_, logits_, seed_, capacity,
                  state);
  for (int64_t epoch = 0; epoch < fit_.epochs; ++epoch) {
    const int64_t pass = state->iteration * fit_.epochs + epoch;
    const std::vector<int32_t> order = BatchOrder(seed_, partition, pass, data.n, fit_.shuffle);
    for (int64_t first = 0; first < data.n; first += capacity) {
      if (cancel.load(std::memory_order_relaxed)) return VisitEnd::kCancelled;
      const int64_t n = std::min(capacity, data.n - first);
      if (!stepper.Run(data, order.data() + first, n, metrics, sums)) return VisitEnd::kNotFinite;
    }
  }
  return AllFinite(state->params.data(), state->params.size()) ? VisitEnd::kDone
                                                               : VisitEnd::kNotFinite;
}

}  // namespace hopper
