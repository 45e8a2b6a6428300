#include "engine/ensemble.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>

#include "base/cancel.h"
#include "engine/configuration.h"
#include "engine/held_outputs.h"
#include "metrics/accumulate.h"
#include "model/keras/ensemble.h"
#include "train/sums.h"

namespace hopper {

namespace {

// An ensemble ends in a sum, whatever its members end in: its loss and metrics are those.
std::unique_ptr<const Trainer> JudgeOf(ConfigSource config, const DataDesc& data) {
  const std::string architecture = EnsembleJson({{config.model_arch, 1, 1.0}}, data.inputs);
  config.model_arch = architecture;
  Networks networks;
  return MakeTrainer(config, data, /*run_seed=*/0, Precision::kFp32, &networks);
}

}  // namespace

EnsembleSelection::EnsembleSelection(const ConfigSource& judge, const DataDesc& data, int metric,
                                     int64_t memory_limit)
    : data_(data),
      judge_(JudgeOf(judge, data_.desc())),
      metric_(metric),
      ascends_(false),
      memory_limit_(memory_limit),
      width_(judge_->network().spec().OutputValues()) {
  const std::vector<MetricParams>& metrics = judge_->compile().metrics;
  if (metric_ >= static_cast<int>(metrics.size())) {
    throw Error(ErrorCode::kInternal, "an ensemble is judged by a metric that there is not");
  }
  if (metric_ >= 0) {
    ascends_ = metrics[static_cast<size_t>(metric_)].type->direction == Direction::kUp;
  }
}

void EnsembleSelection::AddModel(const ConfigSource& config) {
  data_.CheckComplete();
  rows_ = data_.desc().n_rows;
  const auto floats = static_cast<size_t>(rows_ * width_);
  RequireOutputMemory(static_cast<int64_t>((outputs_.size() + 3) * floats * sizeof(float)),
                      outputs_.size() + 1, memory_limit_,
                      "Name fewer models in mst_keys, raise hopper.memory_limit, or use fewer "
                      "rows.");
  Networks networks;
  const std::shared_ptr<const Network> network = networks.Of(config, data_.desc());
  const ModelSpec& spec = network->spec();
  if (spec.OutputValues() != width_) {
    throw Error(ErrorCode::kInvalidParameter, "configuration " + std::to_string(config.mst_key) +
                                                  " has " + std::to_string(spec.OutputValues()) +
                                                  " outputs, others have " +
                                                  std::to_string(width_));
  }
  outputs_.push_back(OutputsOf(network, config, data_, /*logits=*/false));
}

double EnsembleSelection::Value(const std::vector<float>& sum, const std::vector<float>& added,
                                int n) const {
  const c10::InferenceMode inference;
  const ModelSpec& spec = judge_->network().spec();
  std::vector<float> mean(static_cast<size_t>(kHeldBatch * width_));
  MetricSums sums;
  int64_t row = 0;
  ForEachHeldBatch(data_, spec, [&](const BatchTensors& batch, int64_t count) {
    const float* a = sum.data() + row * width_;
    const float* b = added.data() + row * width_;
    for (int64_t i = 0; i < count * width_; ++i) {
      mean[static_cast<size_t>(i)] = (a[i] + b[i]) / static_cast<float>(n);
    }
    Shape shape = spec.output_shape();
    shape.insert(shape.begin(), count);
    const at::Tensor output = at::from_blob(mean.data(), shape, at::kFloat);
    sums.examples += count;
    sums.loss += SumOf(LossPerExample(judge_->objective(), output, batch.targets()));
    AddMetrics(judge_->compile(), spec, judge_->objective(), output, batch.targets(), &sums);
    row += count;
  });
  double loss = 0.0;
  std::vector<double> metrics;
  judge_->Finish(sums, &loss, &metrics);
  return metric_ < 0 ? loss : metrics[static_cast<size_t>(metric_)];
}

std::vector<EnsembleStep> EnsembleSelection::Select(int steps) const {
  if (outputs_.empty()) throw Error(ErrorCode::kInternal, "an ensemble of no models");
  std::vector<float> sum(outputs_.front().size());
  std::vector<EnsembleStep> chosen;
  const auto better = [this](double a, double b) { return ascends_ ? a > b : a < b; };
  size_t best_length = 0;
  for (int step = 1; step <= steps; ++step) {
    EnsembleStep best;
    for (size_t m = 0; m < outputs_.size(); ++m) {
      LookAtCancel();
      const double value = Value(sum, outputs_[m], step);
      if (m == 0 || better(value, best.value)) best = {static_cast<int32_t>(m), value};
    }
    const std::vector<float>& added = outputs_[static_cast<size_t>(best.model)];
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
    chosen.push_back(best);
    if (best_length == 0 || better(best.value, chosen[best_length - 1].value)) {
      best_length = chosen.size();
    }
  }
  chosen.resize(best_length);
  return chosen;
}

}  // namespace hopper
