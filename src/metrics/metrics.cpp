#include "metrics/metrics.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include <optional>

#include "base/keras_epsilon.h"
#include "loss/mean_per_example.h"

namespace hopper {
namespace {

at::Tensor BinaryAccuracy(const at::Tensor& output, bool logits, Activation last,
                          const Targets& targets, std::optional<double> threshold) {
  // sigmoid(x) > 0.5 where x > 0
  const bool from_logits = logits && last == Activation::kSigmoid && !threshold;
  const auto bound = static_cast<float>(threshold.value_or(0.5));
  const at::Tensor predicted =
      from_logits ? at::gt(output, 0.0) : at::gt(Probabilities(output, logits, last), bound);
  const at::Tensor wanted = TargetValues(targets, output);
  return MeanPerExample(at::eq(wanted, predicted.to(at::kFloat)));
}

// Class of each position, int64 with the shape of `output` without its last axis.
at::Tensor TargetClasses(const Targets& targets, const at::Tensor& output, bool sparse) {
  const auto shape = output.sizes().slice(0, output.dim() - 1);
  // One output is the only class there is, as argmax sees it, whatever its label says.
  if (!sparse && output.size(-1) == 1) return at::zeros(shape, output.options().dtype(at::kLong));
  if (targets.classes.defined()) return targets.classes.reshape(shape);
  if (sparse) return targets.values.to(at::kLong).reshape(shape);
  return at::argmax(TargetValues(targets, output), -1);
}

// Numbers that name classes, one where the model has a row of outputs.
bool AreClassNumbers(const Targets& targets, const at::Tensor& output) {
  return targets.values.defined() && output.size(-1) > 1 &&
         targets.values.numel() * output.size(-1) == output.numel();
}

at::Tensor CategoricalAccuracy(const at::Tensor& output, const Targets& targets, bool sparse) {
  return MeanPerExample(at::eq(at::argmax(output, -1), TargetClasses(targets, output, sparse)));
}

// TensorFlow's in_top_k: fewer than k outputs lie above the class's, and all are finite.
at::Tensor TopK(const at::Tensor& output, const Targets& targets, bool sparse, int k) {
  const at::Tensor classes = TargetClasses(targets, output, sparse).unsqueeze(-1);
  const at::Tensor above = at::sum(at::gt(output, at::gather(output, -1, classes)), {-1});
  return MeanPerExample(at::lt(above, k).logical_and_(at::isfinite(output).all(-1)));
}

at::Tensor LastMean(const at::Tensor& x) { return at::mean(x, {-1}, true); }

// keras.metrics.pearson_correlation: NaN where labels or outputs are all alike.
at::Tensor PearsonCorrelation(const at::Tensor& output, const at::Tensor& labels) {
  const auto normalize = [](const at::Tensor& x) {
    const at::Tensor centered = at::sub(x, LastMean(x));
    return at::div(centered, LastMean(at::square(centered)).sqrt());
  };
  return at::mean(at::mul(normalize(labels), normalize(output)), {-1});
}

// keras.metrics.concordance_correlation, which takes the outputs' mean from the labels too.
at::Tensor ConcordanceCorrelation(const at::Tensor& output, const at::Tensor& labels) {
  const at::Tensor label_mean = LastMean(labels), output_mean = LastMean(output);
  const auto variance = [](const at::Tensor& x, const at::Tensor& mean) {
    return LastMean(at::square(at::sub(x, mean)));
  };
  const at::Tensor norm =
      at::add(at::add(variance(labels, label_mean), variance(output, output_mean)),
              at::square(at::sub(label_mean, output_mean)));
  const at::Tensor shared = at::mul(at::sub(labels, output_mean), at::sub(output, output_mean));
  return at::mean(at::div(at::mul(shared, 2.0), at::add(norm, kKerasEpsilon)), {-1});
}

LossKind CrossentropyFor(const at::Tensor& output, bool sparse) {
  return output.size(-1) == 1 ? LossKind::kBinaryCrossentropy
         : sparse             ? LossKind::kSparseCategoricalCrossentropy
                              : LossKind::kCategoricalCrossentropy;
}

// A loss as metric: crossentropies take the logits where there are some, as they do for training.
at::Tensor LossMetric(LossKind loss, const LossOptions& options, const at::Tensor& output,
                      bool logits, Activation last, const Targets& targets) {
  const bool takes_logits = logits && UsesLogits(loss, last);
  return LossPerExample(loss, takes_logits ? output : Probabilities(output, logits, last),
                        takes_logits, last, targets, options);
}

}  // namespace

at::Tensor Probabilities(const at::Tensor& output, bool logits, Activation last) {
  if (!logits) return output;
  return last == Activation::kSigmoid ? at::sigmoid(output) : at::softmax(output, -1);
}

at::Tensor CountedOutputs(const MetricParams& metric, const at::Tensor& output, bool logits,
                          Activation last) {
  at::Tensor outputs = Probabilities(output, logits, last);
  return metric.loss_options.from_logits ? at::sigmoid(outputs) : outputs;
}

at::Tensor MetricPerExample(const MetricParams& metric, const at::Tensor& output, bool logits,
                            Activation last, const Targets& targets) {
  const bool sparse = AreClassNumbers(targets, output);
  ExampleValue value = metric.type->example;
  if (value == ExampleValue::kAccuracy) {
    value = output.size(-1) == 1 ? ExampleValue::kBinaryAccuracy
            : sparse             ? ExampleValue::kSparseCategoricalAccuracy
                                 : ExampleValue::kCategoricalAccuracy;
  }
  switch (value) {
    case ExampleValue::kAccuracy:
    case ExampleValue::kNone:
      break;
    case ExampleValue::kBinaryAccuracy:
      return BinaryAccuracy(output, logits, last, targets, metric.threshold);
    case ExampleValue::kCategoricalAccuracy:
      return CategoricalAccuracy(output, targets, sparse);
    case ExampleValue::kSparseCategoricalAccuracy:
      return CategoricalAccuracy(output, targets, sparse || output.size(-1) == 1);
    case ExampleValue::kTopK:
      return TopK(output, targets, sparse, metric.k);
    case ExampleValue::kSquaredError: {
      const at::Tensor p = Probabilities(output, logits, last);
      return MeanPerExample(at::mse_loss(p, TargetValues(targets, p), at::Reduction::None));
    }
    case ExampleValue::kAbsoluteError: {
      const at::Tensor p = Probabilities(output, logits, last);
      return MeanPerExample(at::abs(at::sub(p, TargetValues(targets, p))));
    }
    case ExampleValue::kCosineSimilarity:
      return LossMetric(LossKind::kCosineSimilarity, {}, output, logits, last, targets).neg();
    case ExampleValue::kPearsonCorrelation:
    case ExampleValue::kConcordanceCorrelation: {
      const at::Tensor p = Probabilities(output, logits, last);
      const at::Tensor y = TargetValues(targets, p);
      return MeanPerExample(value == ExampleValue::kPearsonCorrelation
                                ? PearsonCorrelation(p, y)
                                : ConcordanceCorrelation(p, y));
    }
    case ExampleValue::kCrossentropy:
      return LossMetric(CrossentropyFor(output, sparse), metric.loss_options, output, logits, last,
                        targets);
    case ExampleValue::kLoss:
      return LossMetric(metric.loss, metric.loss_options, output, logits, last, targets);
  }
  throw Error(ErrorCode::kInternal, "unknown metric");
}

}  // namespace hopper
