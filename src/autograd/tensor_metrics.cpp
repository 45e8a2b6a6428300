#include "autograd/tensor_metrics.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include <type_traits>

#include "autograd/mean_per_example.h"
#include "metrics/rows/table.h"

namespace hopper {
namespace {

// What a metric of the table is called with, and what it makes its values of: see
// params/metric_type.h.
struct MetricCall {
  const MetricParams& metric;
  const at::Tensor& output;  // logits where `logits` is true: `last` is to be taken of them
  const bool logits;
  const Activation last;
  const TensorTargets& targets;

  int64_t width() const { return output.size(-1); }
  at::Tensor Probabilities() const { return hopper::Probabilities(output, logits, last); }
  // With the output's shape.
  at::Tensor Labels() const { return TargetValues(targets, output); }
  // Numbers that name classes, one where the model has a row of outputs.
  bool HasClassNumbers() const {
    return targets.values.defined() && width() > 1 &&
           targets.values.numel() * width() == output.numel();
  }
  // Class of each position, int64 with the shape of `output` without its last axis. One output is
  // the only class there is, as argmax sees it, whatever its label says.
  at::Tensor Classes() const {
    return width() == 1 ? at::zeros(Positions(), output.options().dtype(at::kLong))
                        : NumberedClasses();
  }
  // Classes(), but the label of one output is the number of its class.
  at::Tensor NumberedClasses() const {
    if (targets.classes.defined()) return targets.classes.reshape(Positions());
    if (width() > 1 && !HasClassNumbers()) return at::argmax(Labels(), -1);
    return targets.values.to(at::kLong).reshape(Positions());
  }
  // True and false as 1 and 0.
  at::Tensor Numbers(const at::Tensor& truths) const { return truths.to(at::kFloat); }
  // One value an example.
  at::Tensor Mean(const at::Tensor& x) const { return MeanPerExample(x); }
  // Crossentropies take the logits where there are some, as they do for training.
  at::Tensor Loss(LossKind loss, const LossOptions& options) const {
    const bool takes_logits = logits && UsesLogits(loss, last);
    return LossPerExample(loss, takes_logits ? output : Probabilities(), takes_logits, targets,
                          options);
  }

 private:
  at::IntArrayRef Positions() const { return output.sizes().slice(0, output.dim() - 1); }
};

using MetricFunction = at::Tensor (*)(const MetricCall& call);

template <typename M>
constexpr MetricFunction PerExampleOf() {
  if constexpr (std::is_base_of_v<metric_rows::OfLoss, M>) {
    return [](const MetricCall& call) -> at::Tensor {
      const MetricType& type = *call.metric.type;
      const MetricLoss of = type.loss(call.metric, call.width(), call.HasClassNumbers());
      const at::Tensor loss = call.Loss(of.loss, of.options);
      return type.negative_loss ? loss.neg() : loss;
    };
  } else if constexpr (std::is_base_of_v<metric_rows::OfExamples, M>) {
    return [](const MetricCall& call) -> at::Tensor { return M::PerExample(call); };
  } else {
    return nullptr;
  }
}

template <typename... M>
MetricFunction MetricFunctionOf(MetricList<M...> /*metrics*/, int place) {
  static constexpr MetricFunction kFunctions[] = {PerExampleOf<M>()...};
  return kFunctions[place];
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
                            Activation last, const TensorTargets& targets) {
  return MetricFunctionOf(Metrics(), metric.type->place)({metric, output, logits, last, targets});
}

}  // namespace hopper
