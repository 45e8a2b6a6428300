#include "loss/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/div.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
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
#include <functional>
#include <utility>
#include <vector>

#include "loss/expression.h"

namespace hopper {
namespace {

constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

// The mean over all axes but the batch.
at::Tensor MeanPerExample(const at::Tensor& x) {
  if (x.dim() == 1) return x;
  if (x.dim() == 2 && x.size(1) == 1) return x.squeeze(1);
  return at::mean(x.reshape({x.size(0), -1}), {1});
}

at::Tensor ClampProbabilities(const at::Tensor& p) {
  return at::clamp(p, kEpsilon, 1.0 - kEpsilon);
}

// Minus the log-probability of each position's class. `output` is [batch, ..., classes].
at::Tensor ClassLoss(const at::Tensor& log_probabilities, const at::Tensor& classes) {
  const int64_t width = log_probabilities.size(-1);
  const at::Tensor loss = at::nll_loss(
      log_probabilities.dim() == 2 ? log_probabilities : log_probabilities.reshape({-1, width}),
      classes.reshape({-1}), {}, at::Reduction::None);
  return MeanPerExample(
      log_probabilities.dim() == 2 ? loss : loss.reshape({log_probabilities.size(0), -1}));
}

// TensorFlow takes softmax - labels for the gradient of its crossentropy from logits, which is
// right only for labels that add up to one, and takes it for all labels. Adds a term that is
// zero and whose gradient is the difference, softmax * (1 - sum of the labels).
at::Tensor WithTensorFlowsGradient(at::Tensor loss, const at::Tensor& logits,
                                   const at::Tensor& labels) {
  const at::Tensor missing = at::rsub(at::sum(labels, {-1}), 1.0);
  if (missing.is_cpu() && at::max(at::abs(missing)).item<float>() < 1e-5F) return loss;
  const at::Tensor log_sum = at::logsumexp(logits, {-1});
  return at::add(loss, at::mul(missing, at::sub(log_sum, log_sum.detach())));
}

// Moves labels towards all being alike.
at::Tensor Smooth(const at::Tensor& labels, double smoothing, double towards) {
  if (smoothing == 0.0) return labels;
  return at::add(at::mul(labels, 1.0 - smoothing), smoothing * towards);
}

at::Tensor CategoricalCrossentropy(const at::Tensor& output, bool logits, const Targets& targets,
                                   double smoothing) {
  const at::Tensor log_probabilities =
      logits ? at::log_softmax(output, -1)
             : at::log(ClampProbabilities(at::div(output, at::sum(output, {-1}, true))));
  if (targets.classes.defined() && smoothing == 0.0) {
    return ClassLoss(log_probabilities, targets.classes);
  }
  const at::Tensor values =
      Smooth(TargetValues(targets, output), smoothing, 1.0 / static_cast<double>(output.size(-1)));
  at::Tensor loss = at::sum(at::mul(log_probabilities, values), {-1}).neg();
  if (logits) loss = WithTensorFlowsGradient(std::move(loss), output, values);
  return MeanPerExample(loss);
}

at::Tensor SparseCategoricalCrossentropy(const at::Tensor& output, bool logits,
                                         const Targets& targets) {
  const at::Tensor classes =
      targets.classes.defined() ? targets.classes : targets.values.to(at::kLong);
  // Not renormalized before clipping but after: the way of Keras on TensorFlow.
  return ClassLoss(at::log_softmax(logits ? output : at::log(ClampProbabilities(output)), -1),
                   classes);
}

at::Tensor BinaryCrossentropy(const at::Tensor& output, bool logits, const Targets& targets,
                              double smoothing) {
  const at::Tensor values = Smooth(TargetValues(targets, output), smoothing, 0.5);
  if (logits) {
    return MeanPerExample(
        at::binary_cross_entropy_with_logits(output, values, {}, {}, at::Reduction::None));
  }
  const at::Tensor p = ClampProbabilities(output);
  return MeanPerExample(at::mul(values, at::log(p))
                            .add_(at::mul(at::rsub(values, 1.0), at::log(at::rsub(p, 1.0))))
                            .neg());
}

// Labels of 0 and 1 become -1 and 1; a batch with any other label is taken as it is.
at::Tensor HingeLabels(const at::Tensor& labels) {
  const at::Tensor binary = at::mul(labels, at::rsub(labels, 1.0)).eq(0.0).all();
  return at::where(binary, at::sub(at::mul(labels, 2.0), 1.0), labels);
}

at::Tensor Hinge(const at::Tensor& output, const at::Tensor& labels) {
  return at::clamp_min(at::rsub(at::mul(HingeLabels(labels), output), 1.0), 0.0);
}

at::Tensor CategoricalHinge(const at::Tensor& output, const at::Tensor& labels) {
  const at::Tensor wanted = at::sum(at::mul(labels, output), {-1});
  const at::Tensor others = at::amax(at::mul(at::rsub(labels, 1.0), output), {-1});
  return at::clamp_min(at::add(at::sub(others, wanted), 1.0), 0.0);
}

// Rows of length one; rows of zeros stay zero.
at::Tensor Normalize(const at::Tensor& x) {
  const at::Tensor squares = at::sum(at::square(x), {-1}, true);
  return at::div(x, at::clamp_min(squares, 1e-14).sqrt());
}

at::Tensor KlDivergence(const at::Tensor& output, const at::Tensor& labels) {
  const at::Tensor y = at::clamp(labels, kEpsilon, 1.0);
  const at::Tensor p = at::clamp(output, kEpsilon, 1.0);
  return at::sum(at::mul(y, at::log(at::div(y, p))), {-1});
}

at::Tensor LogOfClamped(const at::Tensor& x) {
  return at::log(at::add(at::clamp_min(x, kEpsilon), 1.0));
}

// x + softplus(-2x) - log 2, which does not overflow.
at::Tensor LogCosh(const at::Tensor& x) {
  return at::sub(at::add(x, at::softplus(at::mul(x, -2.0))), std::log(2.0));
}

// keras.ops.power of what is below one, weighed; of outputs as probabilities.
at::Tensor BinaryFocalCrossentropy(const at::Tensor& output, const at::Tensor& labels,
                                   const LossOptions& options) {
  const at::Tensor y = Smooth(labels, options.label_smoothing, 0.5);
  const at::Tensor p = options.from_logits ? at::sigmoid(output) : output;
  const at::Tensor clamped = ClampProbabilities(p);
  const at::Tensor crossentropy =
      at::add(at::mul(y, at::log(clamped)),
              at::mul(at::rsub(y, 1.0), at::log(at::rsub(clamped, 1.0))))
          .neg();
  const at::Tensor right = at::add(at::mul(y, p), at::mul(at::rsub(y, 1.0), at::rsub(p, 1.0)));
  at::Tensor loss = at::mul(at::pow(at::rsub(right, 1.0), options.gamma), crossentropy);
  if (options.class_balancing) {
    const double alpha = options.alpha;
    loss = at::mul(at::add(at::mul(y, alpha), at::mul(at::rsub(y, 1.0), 1.0 - alpha)), loss);
  }
  return loss;
}

at::Tensor CategoricalFocalCrossentropy(const at::Tensor& output, const at::Tensor& labels,
                                        const LossOptions& options) {
  const at::Tensor y =
      Smooth(labels, options.label_smoothing, 1.0 / static_cast<double>(output.size(-1)));
  const at::Tensor p = ClampProbabilities(
      options.from_logits ? at::softmax(output, -1) : at::div(output, at::sum(output, {-1}, true)));
  const at::Tensor weight = at::mul(at::pow(at::rsub(p, 1.0), options.gamma), options.alpha);
  return at::sum(at::mul(weight, at::mul(y, at::log(p)).neg()), {-1});
}

// What is left of Dice's and Tversky's axes: a value of the batch, or one an example.
at::Tensor OverAxes(const at::Tensor& output, const LossOptions& options,
                    const std::function<at::Tensor(at::IntArrayRef axes)>& value) {
  std::vector<int64_t> axes(options.axes.begin(), options.axes.end());
  for (int64_t& axis : axes) axis += axis < 0 ? output.dim() : 0;
  for (int64_t i = 0; i < output.dim() && options.axes.empty(); ++i) axes.push_back(i);
  const at::Tensor found = value(axes);
  if (std::find(axes.begin(), axes.end(), 0) == axes.end()) return MeanPerExample(found);
  return at::mean(found).expand({output.size(0)});
}

at::Tensor Dice(const at::Tensor& output, const at::Tensor& labels, const LossOptions& options) {
  return OverAxes(output, options, [&](at::IntArrayRef axes) {
    const at::Tensor shared = at::sum(at::mul(labels, output), axes);
    const at::Tensor all = at::add(at::sum(labels, axes), at::sum(output, axes));
    return at::rsub(at::div(at::mul(shared, 2.0), at::add(all, kEpsilon)), 1.0);
  });
}

at::Tensor Tversky(const at::Tensor& output, const at::Tensor& labels, const LossOptions& options) {
  return OverAxes(output, options, [&](at::IntArrayRef axes) {
    const at::Tensor shared = at::sum(at::mul(labels, output), axes);
    const at::Tensor missed = at::sum(at::mul(at::rsub(output, 1.0), labels), axes);
    const at::Tensor extra = at::sum(at::mul(output, at::rsub(labels, 1.0)), axes);
    const at::Tensor all =
        at::add(at::add(at::add(shared, missed, options.alpha), extra, options.beta), kEpsilon);
    return at::rsub(at::div(shared, all), 1.0);
  });
}

// (1 - p^q) / q of the probability of the class.
at::Tensor GeneralizedCrossentropy(const at::Tensor& output, const at::Tensor& classes, double q) {
  const at::Tensor index = classes.reshape(output.sizes().slice(0, output.dim() - 1)).unsqueeze(-1);
  const at::Tensor p = at::gather(output, -1, index).squeeze(-1);
  return MeanPerExample(at::div(at::rsub(at::pow(p, q), 1.0), q));
}

// One value an example, also where the expression knows only the batch.
at::Tensor ExpressionLoss(const Expression& expression, const at::Tensor& output,
                          const at::Tensor& labels) {
  return MeanPerExample(ExpressionValues(expression, labels, output));
}

}  // namespace

at::Tensor TargetValues(const Targets& targets, const at::Tensor& output) {
  if (targets.values.defined()) {
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

bool LooksAtBatch(LossKind loss, const LossOptions& options) {
  if (loss == LossKind::kHinge || loss == LossKind::kSquaredHinge) return true;
  if (loss != LossKind::kDice && loss != LossKind::kTversky) return false;
  // Which axis a negative number means depends on the output's rank.
  const auto may_be_batch = [](int axis) { return axis <= 0 && axis != -1; };
  return options.axes.empty() ||
         std::any_of(options.axes.begin(), options.axes.end(), may_be_batch);
}

bool UsesLogits(LossKind loss, Activation last) {
  const bool crossentropy = loss == LossKind::kCategoricalCrossentropy ||
                            loss == LossKind::kSparseCategoricalCrossentropy ||
                            loss == LossKind::kBinaryCrossentropy;
  return crossentropy && (last == Activation::kSoftmax || last == Activation::kSigmoid);
}

at::Tensor LossPerExample(LossKind loss, const at::Tensor& output, bool logits, Activation /*last*/,
                          const Targets& targets, const LossOptions& options) {
  const bool from_logits = logits || options.from_logits;
  const auto values = [&] { return TargetValues(targets, output); };
  switch (loss) {
    case LossKind::kCategoricalCrossentropy:
      return CategoricalCrossentropy(output, from_logits, targets, options.label_smoothing);
    case LossKind::kSparseCategoricalCrossentropy:
      return SparseCategoricalCrossentropy(output, from_logits, targets);
    case LossKind::kBinaryCrossentropy:
      return BinaryCrossentropy(output, from_logits, targets, options.label_smoothing);
    case LossKind::kMeanSquaredError:
      return MeanPerExample(at::mse_loss(output, values(), at::Reduction::None));
    case LossKind::kMeanAbsoluteError:
      return MeanPerExample(at::abs(at::sub(output, values())));
    case LossKind::kMeanAbsolutePercentageError: {
      const at::Tensor y = values();
      const at::Tensor size = at::clamp_min(at::abs(y), kEpsilon);
      return at::mul(MeanPerExample(at::abs(at::div(at::sub(y, output), size))), 100.0);
    }
    case LossKind::kMeanSquaredLogarithmicError:
      return MeanPerExample(at::square(at::sub(LogOfClamped(output), LogOfClamped(values()))));
    case LossKind::kHuber:
      return MeanPerExample(at::huber_loss(output, values(), at::Reduction::None, options.delta));
    case LossKind::kLogCosh:
      return MeanPerExample(LogCosh(at::sub(output, values())));
    case LossKind::kHinge:
      return MeanPerExample(Hinge(output, values()));
    case LossKind::kSquaredHinge:
      return MeanPerExample(at::square(Hinge(output, values())));
    case LossKind::kCategoricalHinge:
      return MeanPerExample(CategoricalHinge(output, values()));
    case LossKind::kKlDivergence:
      return MeanPerExample(KlDivergence(output, values()));
    case LossKind::kPoisson:
      return MeanPerExample(at::sub(output, at::mul(values(), at::log(at::add(output, kEpsilon)))));
    case LossKind::kCosineSimilarity:
      return MeanPerExample(at::sum(at::mul(Normalize(values()), Normalize(output)), {-1}).neg());
    case LossKind::kBinaryFocalCrossentropy:
      return MeanPerExample(BinaryFocalCrossentropy(output, values(), options));
    case LossKind::kCategoricalFocalCrossentropy:
      return MeanPerExample(CategoricalFocalCrossentropy(output, values(), options));
    case LossKind::kDice:
      return Dice(output, values(), options);
    case LossKind::kTversky:
      return Tversky(output, values(), options);
    case LossKind::kGeneralizedCrossentropy:
      return GeneralizedCrossentropy(
          output, targets.classes.defined() ? targets.classes : targets.values.to(at::kLong),
          options.q);
    case LossKind::kExpression:
      return ExpressionLoss(*options.expression, output, values());
  }
  throw Error(ErrorCode::kInternal, "unknown loss");
}

}  // namespace hopper
