#include "engine/ensemble.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/cancel.h"
#include "engine/configuration.h"
#include "engine/held_outputs.h"
#include "metrics/metric_value.h"
#include "model/keras/ensemble.h"
#include "train/backend.h"
#include "train/sums.h"

namespace hopper {

namespace {

// An ensemble ends in a sum, whatever its members end in: its loss and metrics are those.
std::unique_ptr<const Trainer> JudgeOf(const TrainingBackend& backend, ConfigSource config,
                                       const DataDesc& data) {
  const std::string architecture = EnsembleJson({{config.model_arch, 1, 1.0}}, data.inputs);
  config.model_arch = architecture;
  Networks networks(backend);
  return MakeTrainer(config, data, /*run_seed=*/0, Precision::kFp32, &networks);
}

}  // namespace

EnsembleSelection::EnsembleSelection(const TrainingBackend& backend, const ConfigSource& judge,
                                     const DataDesc& data, int metric, int64_t memory_limit)
    : backend_(backend),
      data_(data),
      judge_(JudgeOf(backend, judge, data_.desc())),
      judged_by_(judge_->compile()),
      ascends_(false),
      memory_limit_(memory_limit),
      width_(judge_->network().spec().OutputValues()) {
  std::vector<MetricParams>& metrics = judged_by_.metrics;
  if (metric >= static_cast<int>(metrics.size())) {
    throw Error(ErrorCode::kInternal, "an ensemble is judged by a metric that there is not");
  }
  if (metric < 0) {
    metrics.clear();
    return;
  }
  metrics = {metrics[static_cast<size_t>(metric)]};
  ascends_ = metrics.front().type->direction == Direction::kUp;
}

void EnsembleSelection::AddModel(const ConfigSource& config) {
  data_.CheckComplete();
  rows_ = data_.desc().n_rows;
  const auto floats = static_cast<size_t>(rows_ * width_);
  RequireOutputMemory(static_cast<int64_t>((outputs_.size() + 4) * floats * sizeof(float)),
                      outputs_.size() + 1, memory_limit_,
                      "Name fewer models in mst_keys, raise hopper.memory_limit, or use fewer "
                      "rows.");
  Networks networks(backend_);
  const std::shared_ptr<const PlannedNetwork> network = networks.Of(config, data_.desc());
  const ModelSpec& spec = network->spec();
  if (spec.OutputValues() != width_) {
    throw Error(ErrorCode::kInvalidParameter, "configuration " + std::to_string(config.mst_key) +
                                                  " has " + std::to_string(spec.OutputValues()) +
                                                  " outputs, others have " +
                                                  std::to_string(width_));
  }
  outputs_.push_back(OutputsOf(network, config, data_, /*logits=*/false));
}

std::vector<EnsembleSelection::Batch> EnsembleSelection::ReadBatches() const {
  std::vector<Batch> batches;
  ForEachHeldBatch(data_, [&](const LoadedBatch& batch) {
    Batch kept;
    kept.n = batch.size();
    kept.targets = batch.targets();
    if (kept.targets.classes != nullptr) {
      kept.labels.classes.assign(kept.targets.classes, kept.targets.classes + kept.n);
      kept.targets.classes = kept.labels.classes.data();
    } else {
      const float* values = kept.targets.values;
      kept.labels.values.assign(values, values + kept.n * kept.targets.size);
      kept.targets.values = kept.labels.values.data();
    }
    batches.push_back(std::move(kept));
  });
  return batches;
}

double EnsembleSelection::Value(const std::vector<Batch>& batches, const std::vector<float>& sum,
                                const std::vector<float>& added, int n) const {
  const ModelSpec& spec = judge_->network().spec();
  const Objective& objective = judge_->objective();
  std::vector<float> mean(static_cast<size_t>(kHeldBatch * width_));
  std::unique_ptr<PlannedObjective> measured;
  MetricSums sums;
  int64_t row = 0;
  for (const Batch& batch : batches) {
    const float* a = sum.data() + row * width_;
    const float* b = added.data() + row * width_;
    for (int64_t i = 0; i < batch.n * width_; ++i) {
      mean[static_cast<size_t>(i)] = (a[i] + b[i]) / static_cast<float>(n);
    }
    sums.examples += batch.n;
    row += batch.n;
    if (measured == nullptr || measured->batch() != batch.n) {
      measured =
          std::make_unique<PlannedObjective>(objective, batch.n, KernelsHere(), judge_->backend());
    }
    measured->Run(mean.data(), batch.targets, nullptr, nullptr);
    for (int64_t i = 0; i < batch.n; ++i) sums.loss += static_cast<double>(measured->losses()[i]);
    if (!judged_by_.metrics.empty()) AddMetrics(judged_by_, spec, *measured, &sums);
  }
  if (judged_by_.metrics.empty()) {
    return sums.loss / static_cast<double>(std::max<int64_t>(sums.examples, 1));
  }
  const MetricParams& metric = judged_by_.metrics.front();
  return MetricValue(metric, sums.metrics.data(), sums.examples, OutputWidth(metric, spec)) *
         UnitFactor(metric, objective.parts[metric.part].unit);
}

std::vector<EnsembleStep> EnsembleSelection::Select(int steps, int initial) const {
  if (outputs_.empty()) throw Error(ErrorCode::kInternal, "an ensemble of no models");
  const std::vector<Batch> batches = ReadBatches();
  std::vector<float> sum(outputs_.front().size());
  std::vector<EnsembleStep> chosen;
  // NaN is better than nothing, and any number is better than NaN.
  const auto better = [this](double a, double b) {
    return ascends_ ? a > b || (std::isnan(b) && !std::isnan(a))
                    : a < b || (std::isnan(b) && !std::isnan(a));
  };
  const auto with_each = [&](int n) {
    std::vector<EnsembleStep> found;
    for (const std::vector<float>& added : outputs_) {
      LookAtCancel();
      found.push_back({static_cast<int32_t>(found.size()), Value(batches, sum, added, n)});
    }
    return found;
  };
  const auto by_value = [&better](const EnsembleStep& a, const EnsembleStep& b) {
    return better(a.value, b.value);
  };
  std::vector<EnsembleStep> alone = with_each(1);
  std::stable_sort(alone.begin(), alone.end(), by_value);
  const size_t first =
      std::min({alone.size() / 2, static_cast<size_t>(initial), static_cast<size_t>(steps)});
  alone.resize(std::max<size_t>(first, 1));
  size_t best_length = alone.size();
  for (size_t step = 1; step <= static_cast<size_t>(steps); ++step) {
    const int n = static_cast<int>(step);
    EnsembleStep best;
    if (step <= alone.size()) {
      best = alone[step - 1];
      best.value = Value(batches, sum, outputs_[static_cast<size_t>(best.model)], n);
    } else {
      const std::vector<EnsembleStep> found = with_each(n);
      best = *std::min_element(found.begin(), found.end(), by_value);
    }
    const std::vector<float>& added = outputs_[static_cast<size_t>(best.model)];
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
    chosen.push_back(best);
    if (step > best_length && better(best.value, chosen[best_length - 1].value)) best_length = step;
  }
  chosen.resize(best_length);
  return chosen;
}

}  // namespace hopper
