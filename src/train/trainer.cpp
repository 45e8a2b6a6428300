// What is fixed for one configuration.
#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/pieces.h"
#include "loss/objective.h"
#include "metrics/metric_value.h"
#include "model/planned/plan_memory.h"
#include "model/weights/weight_strides.h"
#include "optim/learning_rate.h"
#include "train/sums.h"
#include "train/trainer_parts.h"

namespace hopper {

namespace {

constexpr double kSmallThings = 16 << 10;

// Finds the classes that class_weight names.
class ClassIndex {
 public:
  explicit ClassIndex(const DataDesc& data) : data_(data) {}

  // Of a key: a class index, or a class label.
  int64_t Of(const std::string& key) {
    std::string label = key;
    if (label.size() >= 2 && (label.front() == '\'' || label.front() == '"') &&
        label.back() == label.front()) {
      label = label.substr(1, label.size() - 2);
    } else if (!label.empty() && label.size() <= 9 &&
               label.find_first_not_of("0123456789") == std::string::npos) {
      return std::stoll(label);
    }
    if (labels_.empty()) {
      const auto& classes = data_.outputs[0].class_values;
      for (size_t i = 0; i < classes.size(); ++i) {
        if (classes[i].has_value()) labels_.emplace(*classes[i], static_cast<int64_t>(i));
      }
    }
    const auto at = labels_.find(label);
    if (at != labels_.end()) return at->second;
    throw Error(ErrorCode::kInvalidParameter,
                "class_weight names the class \"" + label + "\", which \"" + data_.table_name +
                    "\" does not have",
                "", NearestNameHint(label, data_.outputs[0].ClassNames()));
  }

 private:
  const DataDesc& data_;
  std::unordered_map<std::string, int64_t> labels_;
};

CompileParams ByRows(CompileParams compile, const ModelSpec& spec) {
  CountRows(spec, &compile);
  return compile;
}

}  // namespace

int64_t StepsOfIteration(const FitParams& fit, const DataDesc& data) {
  const int64_t batch = std::max<int64_t>(fit.batch_size, 1);
  int64_t steps = 0;
  for (int partition = 0; partition < data.n_partitions; ++partition) {
    steps += (PartitionRange(data.n_rows, data.n_partitions, partition).count + batch - 1) / batch;
  }
  return std::max<int64_t>(steps, 1) * std::max<int64_t>(fit.epochs, 1);
}

std::vector<TrainableSpan> SpansOf(const ModelSpec& spec) {
  std::vector<TrainableSpan> spans;
  for (const WeightSpec& weight : spec.weights) {
    if (weight.slot_offset < 0) continue;
    TrainableSpan span;
    span.offset = weight.offset;
    span.slot_offset = weight.slot_offset;
    span.size = weight.size();
    span.l1 = weight.regularizer.l1;
    span.l2 = weight.regularizer.l2;
    span.lr_factor = weight.lr_factor;
    span.decay_factor = weight.decay_factor;
    if (weight.constraint.kind != ConstraintKind::kNone) {
      span.constraint =
          std::make_shared<Constraint>(weight.constraint, weight.shape, WeightStrides(weight));
    }
    spans.push_back(span);
  }
  return spans;
}

std::vector<std::pair<int64_t, int64_t>> ChangingWeights(const ModelSpec& spec) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  const WeightSpec* last = nullptr;
  for (const WeightSpec& weight : spec.weights) {
    const bool changes = spec.layers[static_cast<size_t>(weight.layer)]->trainable();
    if (changes && last != nullptr) {
      spans.back().second = weight.offset + weight.size() - spans.back().first;
    } else if (changes) {
      spans.emplace_back(weight.offset, weight.size());
    }
    last = changes ? &weight : nullptr;
  }
  return spans;
}

std::vector<float> ClassWeightsOf(const FitParams& fit, const DataDesc& data) {
  std::vector<float> weights;
  if (data.by_parts && !fit.class_weight.empty()) {
    throw Error(ErrorCode::kNotSupported,
                "class_weight needs one output, and rows without weights of their own");
  }
  ClassIndex classes(data);
  for (const auto& [key, value] : fit.class_weight) {
    const int64_t index = classes.Of(key);
    const int64_t bound = data.y_kind == LabelKind::kClass ? data.num_classes
                          : data.y_elements() > 1          ? data.y_elements()
                                                           : 1 << 20;
    if (index >= bound) {
      throw Error(ErrorCode::kInvalidParameter, "class_weight names the class " +
                                                    std::to_string(index) + " of " +
                                                    std::to_string(bound) + " classes");
    }
    if (static_cast<int64_t>(weights.size()) <= index) {
      weights.resize(static_cast<size_t>(index) + 1, 1.0F);
    }
    weights[static_cast<size_t>(index)] = static_cast<float>(value);
  }
  return weights;
}

void MetricSums::Add(const MetricSums& other) {
  loss += other.loss;
  metrics.resize(std::max(metrics.size(), other.metrics.size()), 0.0);
  for (size_t i = 0; i < other.metrics.size(); ++i) metrics[i] += other.metrics[i];
  examples += other.examples;
}

Trainer::Trainer(std::shared_ptr<const PlannedNetwork> network, CompileParams compile,
                 FitParams fit, const DataDesc& data, const TrainingBackend& backend,
                 uint64_t run_seed, Precision precision, const std::string& watched_data,
                 bool unplanned)
    : network_(std::move(network)),
      backend_(backend),
      compile_(ByRows(std::move(compile), network_->spec())),
      fit_(std::move(fit)),
      stopping_(compile_, fit_, watched_data),
      data_(data),
      seed_(fit_.seed.value_or(run_seed)),
      spans_(SpansOf(network_->spec())),
      changing_(ChangingWeights(network_->spec())),
      loss_text_(LossText(compile_)),
      class_weights_(ClassWeightsOf(fit_, data_)),
      precision_(precision),
      objective_(std::make_shared<const Objective>(
          MakeObjective(compile_, network_->spec(), data_, /*training=*/false))),
      training_objective_(std::make_shared<const Objective>(
          MakeObjective(compile_, network_->spec(), data_, /*training=*/true))),
      needs_torch_(unplanned ||
                   LossesNeedTorch(compile_, network_->spec(), *objective_, *training_objective_)) {
  loss_text_ += LayoutText(*objective_);
  const int64_t steps = StepsOfIteration(fit_, data_);
  CountSteps(steps, &compile_.optimizer.schedule);
  CountSteps(steps, &compile_.optimizer.weight_decay_schedule);
  CountSteps(steps, &fit_.dropout_schedule);
  const Shape& input = network_->spec().input_shape();
  if (ElementCount(input) != data_.x_elements()) {
    throw Error(ErrorCode::kInvalidParameter,
                "model expects input of shape " + ShapeText(input) + " but \"" + data_.table_name +
                    "\" holds " + std::to_string(data_.x_elements()) + " values a row");
  }
  if (fit_.batch_size < 1 || fit_.epochs < 1) {
    throw Error(ErrorCode::kInvalidParameter, "batch_size and epochs must be at least 1");
  }
  MakeHead(run_seed);
}

ModelState Trainer::InitialState(const float* keras_weights,
                                 const std::string& numerics_class) const {
  ModelState state = EmptyState(numerics_class);
  if (keras_weights != nullptr) {
    ImportWeights(network_->spec(), keras_weights, state.params.data());
  } else {
    InitializeWeights(network_->spec(), seed_, state.params.data());
  }
  return state;
}

bool Trainer::MakeState(InitialWeights* weights, const std::atomic<bool>& cancel,
                        const std::string& numerics_class, ModelState* state) const {
  ModelState made = EmptyState(numerics_class);
  if (!weights->Get(network_->spec(), seed_, cancel, made.params.data())) return false;
  *state = std::move(made);
  return true;
}

ModelState Trainer::EmptyState(const std::string& numerics_class) const {
  const ModelSpec& spec = network_->spec();
  ModelState state;
  state.architecture = spec.hash;
  state.numerics_class = numerics_class;
  state.optimizer = SlotNames(compile_.optimizer);
  state.n_slots = SlotCount(compile_.optimizer);
  state.params = AlignedArray<float>(static_cast<size_t>(spec.flat_size));
  state.slots = AlignedArray<float>(static_cast<size_t>(spec.slot_size * state.n_slots));
  stopping_.Adopt(&state.monitor);
  return state;
}

AlignedArray<float> Trainer::KeptWeights(const ModelState& state) const {
  AlignedArray<float> weights = CloneInPieces(state.params);
  UseAverages(compile_.optimizer, state.step, spans_, state.slots.data(),
              network_->spec().slot_size, weights.data());
  return weights;
}

bool Trainer::DeliversBest(const ModelState& state) const {
  return stopping_.restores() && state.monitor.best_weights.size() != 0;
}

int64_t Trainer::DeliveredIteration(const ModelState& state) const {
  return DeliversBest(state) ? state.monitor.best_iteration : state.iteration;
}

AlignedArray<float> Trainer::DeliveredWeights(const ModelState& state, int64_t* iteration) const {
  if (iteration != nullptr) *iteration = DeliveredIteration(state);
  return DeliversBest(state) ? CloneInPieces(state.monitor.best_weights) : KeptWeights(state);
}

const float* Trainer::WeightsToEvaluate(const ModelState& state, bool delivered,
                                        AlignedArray<float>* copy) const {
  if (delivered && DeliversBest(state)) return state.monitor.best_weights.data();
  if (!compile_.optimizer.use_ema) return state.params.data();
  *copy = KeptWeights(state);
  return copy->data();
}

AlignedArray<float> Trainer::TakeWeights(ModelState* state) const {
  const bool best = DeliversBest(*state);
  AlignedArray<float> weights = std::move(best ? state->monitor.best_weights : state->params);
  if (!best) {
    UseAverages(compile_.optimizer, state->step, spans_, state->slots.data(),
                network_->spec().slot_size, weights.data());
  }
  *state = ModelState();
  return weights;
}

void Trainer::Finish(const MetricSums& sums, double* loss, std::vector<double>* metrics) const {
  const double n = static_cast<double>(std::max<int64_t>(sums.examples, 1));
  *loss = sums.loss / n;
  metrics->clear();
  if (sums.metrics.empty()) return;
  const double* at = sums.metrics.data();
  for (const MetricParams& metric : compile_.metrics) {
    const int64_t width = OutputWidth(metric, network_->spec());
    metrics->push_back(MetricValue(metric, at, sums.examples, width) *
                       UnitFactor(metric, objective_->parts[metric.part].unit));
    at += MetricSumCount(metric, width);
  }
}

int64_t Trainer::StateBytes() const {
  const ModelSpec& spec = network_->spec();
  const double copies = stopping_.restores() ? 2.0 : 1.0;
  const double floats = static_cast<double>(spec.flat_size) * copies +
                        static_cast<double>(spec.slot_size) * SlotCount(compile_.optimizer);
  return Saturated(floats * sizeof(float));
}

int64_t Trainer::SumsBytes() const {
  return Saturated(static_cast<double>(SumCount(compile_, network_->spec())) * sizeof(double));
}

// Of the examples of a batch, as they are gathered.
double Trainer::BatchBytes(int64_t batch) const {
  const double label = data_.y_kind == LabelKind::kClass
                           ? sizeof(int64_t)
                           : static_cast<double>(data_.y_elements()) * sizeof(float);
  const double row = static_cast<double>(data_.x_elements()) * sizeof(float) + label;
  return static_cast<double>(batch) * row * kRoundedUp + kSmallThings;
}

// Of a plan with its loss.
double Trainer::PlanBytes(int64_t batch, bool training, int parts) const {
  const ModelSpec& spec = network_->spec();
  const double outputs =
      static_cast<double>(batch) * static_cast<double>(ElementCount(spec.output_shape()));
  // Probabilities, labels and scratch; about as much again where a loss or metric has no loop.
  const double loss = 8.0 * outputs * sizeof(float);
  PlanOptions options;
  options.batch = batch;
  options.training = training;
  options.linear = objective_->linear;
  options.seed = seed_;
  if (training) options.precision = precision_;
  options.measured_parts = parts;
  return StepMemory(*network_, options) + loss;
}

int64_t Trainer::EvaluationEstimate() const {
  const ModelSpec& spec = network_->spec();
  const int64_t rows = PartitionRange(data_.n_rows, data_.n_partitions, 0).count;
  if (head_ != nullptr) {
    const auto evaluation = static_cast<double>(head_->EvaluationEstimate());
    return Saturated(static_cast<double>(FeatureBytes(rows)) + std::max(PrefixBytes(), evaluation));
  }
  const int64_t batch = std::max<int64_t>(std::min(EvaluationBatch(spec), rows), 1);
  // Buffers of more than a batch end with smaller ones, which have a plan of their own.
  const double plans = rows > batch ? 2.0 : 1.0;
  // Of a buffer, or the total; those of the partition are the caller's.
  const auto sums = static_cast<double>(SumsBytes());
  return Saturated(BatchBytes(batch) + plans * PlanBytes(batch, false, 1) + sums);
}

double Trainer::VisitBytes(int parts) const {
  const ModelSpec& spec = network_->spec();
  // A batch never crosses a partition; partitions differ by a row at most.
  const int64_t rows = PartitionRange(data_.n_rows, data_.n_partitions, 0).count;
  if (head_ != nullptr) {
    return static_cast<double>(FeatureBytes(rows)) +
           std::max(PrefixBytes(), head_->VisitBytes(parts));
  }
  const int64_t batch = std::max<int64_t>(std::min(fit_.batch_size, rows), 1);
  double rest = 0.0;
  for (const int64_t last : {rows % batch, std::max<int64_t>(rows - 1, 0) % batch}) {
    if (last > 0) rest = std::max(rest, PlanBytes(last, true, parts));
  }
  const double shadow = precision_ == Precision::kBf16 ? sizeof(uint16_t) : 0.0;
  return BatchBytes(batch) + PlanBytes(batch, true, parts) + rest +
         static_cast<double>(spec.flat_size) * (sizeof(float) + shadow) +
         static_cast<double>(rows) * sizeof(int32_t) +  // their order
         static_cast<double>(SumsBytes());
}

// The decomposition that makes an orthogonal matrix: it, what it is made of, and the results.
double Trainer::InitializationBytes() const {
  double largest = 0.0;
  for (const WeightSpec& weight : network_->spec().weights) {
    if (weight.initializer.kind != InitializerKind::kOrthogonal) continue;
    largest = std::max(largest, static_cast<double>(weight.size()));
  }
  return 4.0 * largest * sizeof(double);
}

int64_t Trainer::MemoryEstimate(int parts) const {
  const auto evaluation = static_cast<double>(EvaluationEstimate());
  return Saturated(static_cast<double>(StateBytes()) +
                   std::max({VisitBytes(parts), evaluation, InitializationBytes()}));
}

}  // namespace hopper
