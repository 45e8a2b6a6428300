#include "autograd/tensor_loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/div.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/max.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/expression.h"
#include "autograd/mean_per_example.h"
#include "loss/rows/table.h"

namespace hopper {
namespace {

// What a loss of the table is called with, and what it makes its values of: see params/loss_type.h.
struct LossCall {
  const at::Tensor& output;
  const bool from_logits;  // the output holds logits
  const TensorTargets& targets;
  const LossOptions& options;

  // With the output's shape.
  at::Tensor Labels() const { return TargetValues(targets, output); }
  bool HasClasses() const { return targets.classes.defined(); }
  // Indexes, one where the output has a row.
  at::Tensor Classes() const {
    return HasClasses() ? targets.classes : targets.values.to(at::kLong);
  }
  // One value an example.
  at::Tensor Mean(const at::Tensor& x) const { return MeanPerExample(x); }

  // Minus the log-probability of each position's class, from [batch, ..., classes].
  at::Tensor ClassLoss(const at::Tensor& log_probabilities) const {
    const int64_t width = log_probabilities.size(-1);
    const at::Tensor loss = at::nll_loss(
        log_probabilities.dim() == 2 ? log_probabilities : log_probabilities.reshape({-1, width}),
        Classes().reshape({-1}), {}, at::Reduction::None);
    return MeanPerExample(
        log_probabilities.dim() == 2 ? loss : loss.reshape({log_probabilities.size(0), -1}));
  }

  // TensorFlow takes softmax - labels for the gradient of its crossentropy from logits, which is
  // right only for labels that add up to one, and takes it for all labels. Adds a term that is
  // zero and whose gradient is the difference, softmax * (1 - sum of the labels).
  at::Tensor WithTensorFlowsGradient(const at::Tensor& loss, const at::Tensor& labels) const {
    const at::Tensor missing = at::rsub(at::sum(labels, {-1}), 1.0);
    if (missing.is_cpu() && at::max(at::abs(missing)).item<float>() < 1e-5F) return loss;
    // Not the slope of logsumexp, which is rounded where logits are large.
    const at::Tensor slope = at::softmax(output.detach(), -1);
    const at::Tensor zero = at::sum(at::mul(slope, at::sub(output, output.detach())), {-1});
    return at::add(loss, at::mul(missing, zero));
  }

  // What is left of the options' axes: a value of the batch, or one an example.
  template <typename Value>
  at::Tensor OverAxes(const Value& value) const {
    std::vector<int64_t> axes(options.axes.begin(), options.axes.end());
    for (int64_t& axis : axes) axis += axis < 0 ? output.dim() : 0;
    for (int64_t i = 0; i < output.dim() && options.axes.empty(); ++i) axes.push_back(i);
    const at::Tensor found = value(at::IntArrayRef(axes));
    if (std::find(axes.begin(), axes.end(), 0) == axes.end()) return MeanPerExample(found);
    return at::mean(found).expand({output.size(0)});
  }

  at::Tensor ExpressionValues() const {
    return hopper::ExpressionValues(*options.expression, Labels(), output);
  }
};

using LossFunction = at::Tensor (*)(const LossCall& call);

template <typename L>
at::Tensor PerExample(const LossCall& call) {
  return L::PerExample(call);
}

template <typename... L>
LossFunction FunctionOf(LossList<L...> /*losses*/, LossKind loss) {
  static constexpr LossFunction kFunctions[] = {PerExample<L>...};
  return kFunctions[static_cast<size_t>(loss)];
}

}  // namespace

at::Tensor MeanPerExample(const at::Tensor& x) {
  const at::Tensor numbers = x.scalar_type() == at::kBool ? x.to(at::kFloat) : x;
  if (numbers.dim() == 1) return numbers;
  if (numbers.dim() == 2 && numbers.size(1) == 1) return numbers.squeeze(1);
  return at::mean(numbers.reshape({numbers.size(0), -1}), {1});
}

at::Tensor TargetValues(const TensorTargets& targets, const at::Tensor& output) {
  if (targets.values.defined()) {
    const int64_t columns = output.size(-1);
    if (columns > 1 && targets.values.numel() * columns == output.numel()) {
      // Numbers of classes, one where the output has a row.
      std::vector<int64_t> sizes = output.sizes().vec();
      sizes.back() = 1;
      at::Tensor one_hot = at::zeros(output.sizes(), targets.values.options());
      one_hot.scatter_(-1, targets.values.reshape(sizes).to(at::kLong), 1.0);
      return one_hot;
    }
    return targets.values.sizes() == output.sizes() ? targets.values
                                                    : targets.values.reshape(output.sizes());
  }
  const int64_t batch = output.size(0);
  const int64_t width = output.numel() / std::max<int64_t>(batch, 1);
  if (width == 1) return targets.classes.to(at::kFloat).reshape(output.sizes());
  at::Tensor one_hot =
      at::zeros({batch, width}, output.options().dtype(at::kFloat).requires_grad(false));
  one_hot.scatter_(1, targets.classes.reshape({batch, 1}), 1.0);
  return output.dim() == 2 ? one_hot : one_hot.reshape(output.sizes());
}

TensorTargets TensorsOf(const Targets& targets, int64_t batch) {
  TensorTargets tensors;
  tensors.num_classes = targets.num_classes;
  if (targets.classes != nullptr) {
    tensors.classes = at::from_blob(const_cast<int64_t*>(targets.classes), {batch},
                                    at::TensorOptions().dtype(at::kLong));
  } else {
    tensors.values = at::from_blob(const_cast<float*>(targets.values), {batch, targets.size},
                                   at::TensorOptions().dtype(at::kFloat));
  }
  return tensors;
}

at::Tensor LossPerExample(LossKind loss, const at::Tensor& output, bool logits,
                          const TensorTargets& targets, const LossOptions& options) {
  return FunctionOf(Losses(), loss)({output, logits || options.from_logits, targets, options});
}

}  // namespace hopper
