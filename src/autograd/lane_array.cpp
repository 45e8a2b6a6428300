#include "autograd/lane_array.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "autograd/lane_metrics.h"
#include "autograd/tensor_loss.h"
#include "base/error.h"
#include "base/pieces.h"
#include "model/planned/plan_memory.h"
#include "train/sums.h"
#include "train/trainer_parts.h"

namespace hopper {
namespace {

// Steps between two looks at how far the device is.
constexpr int64_t kThrottle = 32;

int64_t LargestPartition(const DataDesc& data) {
  return PartitionRange(data.n_rows, data.n_partitions, 0).count;
}

// A table of plain structs as bytes.
template <typename T>
at::Tensor Bytes(const std::vector<T>& values) {
  at::Tensor bytes = at::empty({static_cast<int64_t>(values.size() * sizeof(T))}, at::kByte);
  if (!values.empty()) std::memcpy(bytes.data_ptr(), values.data(), values.size() * sizeof(T));
  return bytes;
}

// With the learning rate that the state's history has led to.
OptimizerParams OptimizerOf(const LaneVisit& visit) {
  OptimizerParams optimizer = visit.trainer->compile().optimizer;
  const auto& monitor = visit.state->monitor;
  if (monitor.reduced) optimizer.learning_rate = static_cast<double>(monitor.learning_rate);
  return optimizer;
}

}  // namespace

// Masks from the seeds and step counters that lie on the device.
class LaneArray::Random : public LaneRandom {
 public:
  explicit Random(LaneArray* array) : array_(*array) {}
  void DropoutMask(uint32_t layer, uint32_t threshold, float scale,
                   const at::Tensor& mask) override {
    array_.device_->DropoutMask(array_.seeds_.const_data_ptr<int64_t>(),
                                array_.steps_.const_data_ptr<int64_t>(), layer, threshold, scale,
                                mask.size(0), mask.numel() / mask.size(0),
                                mask.mutable_data_ptr<float>());
  }
  void Uniform(uint32_t layer, const at::Tensor& values) override {
    array_.device_->Uniform(array_.seeds_.const_data_ptr<int64_t>(),
                            array_.steps_.const_data_ptr<int64_t>(), layer, values.size(0),
                            values.numel() / values.size(0), values.mutable_data_ptr<float>());
  }

 private:
  LaneArray& array_;
};

LaneArray::LaneArray(const Trainer& trainer, const DataDesc& data, const LaneOptions& options,
                     LaneDevice* device)
    : device_(device),
      network_(dynamic_cast<const Network&>(trainer.network())),
      compile_(trainer.compile()),
      fit_(trainer.fit()),
      objective_(trainer.objective()),
      training_objective_(trainer.training_objective()),
      bf16_(options.precision == "bf16"),
      lanes_(options.lanes),
      largest_partition_(LargestPartition(data)),
      n_slots_(std::max(1, SlotCount(compile_.optimizer))),
      host_spans_(MakeLaneSpans(SpansOf(network_.spec()))),
      lr_factors_(LrFactors(SpansOf(network_.spec()))),
      host_rules_(static_cast<size_t>(options.lanes)) {
  if (fit_.has_dropout_schedule()) {
    throw Error(ErrorCode::kNotSupported, "a GPU cannot train with a schedule of dropout", "",
                "Leave out dropout_schedule, or train on the CPU.");
  }
  const at::NoGradGuard no_grad;
  const ModelSpec& spec = network_.spec();
  const int64_t batch = std::min(fit_.batch_size, largest_partition_);
  const int64_t steps = (largest_partition_ + batch - 1) / batch;
  params_ = at::zeros({lanes_, spec.flat_size}, On(at::kFloat));
  gradients_ = at::zeros({lanes_, spec.flat_size}, On(at::kFloat));
  slots_ = at::zeros({lanes_, n_slots_, spec.slot_size}, On(at::kFloat));
  if (bf16_) shadow_ = at::zeros({lanes_, spec.flat_size}, On(at::kBFloat16));
  spans_ = Bytes(host_spans_).to(device_->device());
  rules_ = Bytes(host_rules_).to(device_->device());
  squares_ = at::zeros({lanes_, static_cast<int64_t>(host_spans_.size()),
                        static_cast<int64_t>(kNormSums), static_cast<int64_t>(kNormParts)},
                       On(at::kDouble));
  seeds_ = at::zeros({lanes_}, On(at::kLong));
  steps_ = at::zeros({lanes_}, On(at::kLong));
  order_ = at::zeros({lanes_, largest_partition_}, On(at::kInt));
  table_ =
      at::zeros({steps, lanes_,
                 static_cast<int64_t>(lr_factors_.size() * sizeof(LaneScalars) / sizeof(float))},
                On(at::kFloat));
  tick_ = at::zeros({1}, On(at::kLong));
  cursor_ = at::zeros({1}, On(at::kLong));
  range_ = at::arange(std::max(batch, EvaluationBatch(spec)), On(at::kLong));
  loss_sums_ = at::zeros({lanes_}, On(at::kDouble));
  metric_sums_ = at::zeros({lanes_, SumCount(compile_, spec)}, On(at::kDouble));
  taken_ = at::zeros({1}, On(at::kLong));
  failed_at_ = at::full({lanes_}, -1, On(at::kLong));
  std::vector<float> weights = ClassWeightsOf(fit_, data);
  if (!weights.empty()) {
    weights.push_back(1.0F);  // labels beyond the others
    class_weights_ =
        at::from_blob(weights.data(), {static_cast<int64_t>(weights.size())}, at::kFloat)
            .clone()
            .to(device_->device());
  }

  weights_ = network_.BindWeights(params_);
  gradient_views_ = network_.BindWeights(gradients_);
  if (bf16_) {
    const std::vector<at::Tensor> narrow = network_.BindWeights(shadow_);
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (!network_.op(spec.weights[i].layer).float_weights()) weights_[i] = narrow[i];
    }
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (spec.weights[i].slot_offset < 0) continue;
    weights_[i].set_requires_grad(true);
    trainable_.push_back(i);
  }
  for (const TrainableSpan& span : SpansOf(spec)) {
    if (span.l1 != 0.0 || span.l2 != 0.0) regularized_.push_back(span);
  }
  random_ = std::make_unique<Random>(this);
}

LaneArray::~LaneArray() = default;

at::TensorOptions LaneArray::On(at::ScalarType type) const {
  return at::TensorOptions().device(device_->device()).dtype(type);
}

void LaneArray::CopyIn(const at::Tensor& from, const at::Tensor& to) const {
  at::Tensor staged = device_->Staging(from.sizes(), from.scalar_type());
  staged.copy_(from);
  to.copy_(staged, /*non_blocking=*/true);
}

void LaneArray::Load(int lane, const Trainer& trainer, const ModelState& state) {
  const at::NoGradGuard no_grad;
  const ModelSpec& spec = network_.spec();
  if (state.n_slots > n_slots_) {  // recorded steps know the old place
    recorded_.clear();
    const at::Tensor before = slots_;
    slots_ = at::zeros({lanes_, state.n_slots, spec.slot_size}, On(at::kFloat));
    slots_.narrow(1, 0, n_slots_).copy_(before);
    n_slots_ = state.n_slots;
  }
  const auto host = [](const float* data, int64_t n) {
    return at::from_blob(const_cast<float*>(data), {n}, at::kFloat);
  };
  CopyIn(host(state.params.data(), spec.flat_size), params_[lane]);
  at::Tensor own_slots = slots_[lane].flatten();
  const auto floats = static_cast<int64_t>(state.slots.size());
  if (floats > 0) CopyIn(host(state.slots.data(), floats), own_slots.narrow(0, 0, floats));
  if (bf16_) shadow_[lane].copy_(params_[lane]);
  host_rules_[static_cast<size_t>(lane)] = MakeLaneRule(trainer.compile().optimizer);
  CopyIn(Bytes(host_rules_), rules_);
  bool clips = false, by_norms = false;
  for (const LaneRule& rule : host_rules_) {
    clips |= rule.clipnorm != 0.0F || rule.global_clipnorm != 0.0F;
    by_norms |= rule.by_norms != 0;
  }
  // They are part of a recorded step.
  if (clips != clips_ || by_norms != by_norms_) recorded_.clear();
  clips_ = clips;
  by_norms_ = by_norms;
}

void LaneArray::Save(const std::vector<ModelState*>& states) const {
  const at::NoGradGuard no_grad;
  const auto count = static_cast<int64_t>(states.size());
  const at::Tensor params = device_->Staging({count, params_.size(1)}, at::kFloat);
  const at::Tensor slots = device_->Staging({count, n_slots_, slots_.size(2)}, at::kFloat);
  params.copy_(params_.narrow(0, 0, count), /*non_blocking=*/true);
  slots.copy_(slots_.narrow(0, 0, count), /*non_blocking=*/true);
  device_->Synchronize();
  for (int64_t lane = 0; lane < count; ++lane) {
    ModelState& state = *states[static_cast<size_t>(lane)];
    CopyInPieces(state.params.data(), params.const_data_ptr<float>() + lane * params.size(1),
                 state.params.size() * sizeof(float));
    if (state.slots.size() == 0) continue;
    CopyInPieces(state.slots.data(),
                 slots.const_data_ptr<float>() + lane * n_slots_ * slots.size(2),
                 state.slots.size() * sizeof(float));
  }
}

std::vector<at::Tensor*> LaneArray::ChangedByStep() {
  return {&params_,    &slots_,       &steps_, &tick_,     &cursor_,
          &loss_sums_, &metric_sums_, &taken_, &failed_at_};
}

LaneStep& LaneArray::StepFor(const LaneData& data, int64_t n, Work work) {
  std::unique_ptr<LaneStep>& step = recorded_[std::make_tuple(&data, n, work)];
  if (step != nullptr) return *step;
  const auto body = [this, &data, n, work] {
    if (work == Work::kEvaluate) {
      EvaluateStep(data, n);
    } else {
      TrainStep(data, n, work == Work::kTrainWithMetrics);
    }
  };
  // While recording, each run looks at the first examples and the first row of the table.
  const auto rewind = [this] {
    const at::NoGradGuard no_grad;
    cursor_.zero_();
    tick_.zero_();
  };
  if (!device_->records()) {
    step = device_->Record(body, rewind);
    return *step;
  }
  // Recording runs the body on what lies there; everything it changes is put back.
  std::vector<at::Tensor> before;
  {
    const at::NoGradGuard no_grad;
    for (const at::Tensor* tensor : ChangedByStep()) before.push_back(tensor->clone());
    if (bf16_) before.push_back(shadow_.clone());
  }
  step = device_->Record(body, rewind);
  const at::NoGradGuard no_grad;
  size_t next = 0;
  for (at::Tensor* tensor : ChangedByStep()) tensor->copy_(before[next++]);
  if (bf16_) shadow_.copy_(before[next]);
  return *step;
}

// The order of this epoch's examples and the scalars of its steps.
bool LaneArray::UploadEpoch(const std::vector<LaneVisit>& visits, const LaneData& data,
                            int64_t epoch, const std::atomic<bool>& cancel) {
  const int64_t n = data.rows(visits[0].partition);
  const int64_t batch = std::min(fit_.batch_size, n);
  const int64_t steps = (n + batch - 1) / batch;
  const at::Tensor order = device_->Staging({lanes_, n}, at::kInt);
  const at::Tensor table = device_->Staging({steps, lanes_, table_.size(2)}, at::kFloat);
  auto* rows = order.mutable_data_ptr<int32_t>();
  auto* scalars = static_cast<LaneScalars*>(table.mutable_data_ptr());
  const auto rates = static_cast<int64_t>(lr_factors_.size());
  BatchOrders orders(std::numeric_limits<int64_t>::max());  // lanes of one seed share theirs
  for (int lane = 0; lane < lanes_; ++lane) {
    // Padding does what the first lane does, with weights of its own.
    const bool padding = lane >= static_cast<int>(visits.size());
    const LaneVisit& visit = visits[padding ? 0 : static_cast<size_t>(lane)];
    const FitParams& fit = visit.trainer->fit();
    const int64_t pass = visit.state->iteration * fit.epochs + epoch;
    const BatchOrders::Order permutation =
        orders.Get(visit.trainer->seed(), visit.partition, pass, n, fit.shuffle, cancel);
    if (permutation == nullptr) return false;
    const auto first = static_cast<int32_t>(data.first_row(visit.partition));
    for (int64_t i = 0; i < n; ++i) {
      rows[lane * n + i] = first + (*permutation)[static_cast<size_t>(i)];
    }
    const OptimizerParams optimizer = OptimizerOf(visit);
    const int64_t taken = visit.state->step + epoch * steps;
    for (int64_t step = 0; step < steps; ++step) {
      LaneScalars* of_lane = scalars + (step * lanes_ + lane) * rates;
      for (int64_t rate = 0; rate < rates; ++rate) {
        of_lane[rate] =
            MakeLaneScalars(optimizer, taken + step, lr_factors_[static_cast<size_t>(rate)]);
      }
    }
  }
  order_.narrow(1, 0, n).copy_(order, /*non_blocking=*/true);
  table_.narrow(0, 0, steps).copy_(table, /*non_blocking=*/true);
  tick_.zero_();
  cursor_.zero_();
  return true;
}

std::vector<MetricSums> LaneArray::TakeSums(int count, int64_t examples) const {
  const at::Tensor losses = loss_sums_.cpu();
  const at::Tensor metrics = metric_sums_.cpu();
  std::vector<MetricSums> result(static_cast<size_t>(count));
  for (int lane = 0; lane < count; ++lane) {
    MetricSums& sums = result[static_cast<size_t>(lane)];
    sums.loss = losses.const_data_ptr<double>()[lane];
    sums.examples = examples;
    const double* row = metrics.const_data_ptr<double>() + lane * metrics.size(1);
    sums.metrics.assign(row, row + metrics.size(1));
  }
  return result;
}

void LaneArray::Train(std::vector<LaneVisit>* visits, const LaneData& data,
                      const std::atomic<bool>& cancel, bool metrics) {
  const at::NoGradGuard no_grad;
  if (visits->empty() || static_cast<int>(visits->size()) > lanes_) {
    throw Error(ErrorCode::kInternal, "an array was given as many visits as it has no lanes for");
  }
  const int64_t n = data.rows((*visits)[0].partition);
  for (const LaneVisit& visit : *visits) {
    if (data.rows(visit.partition) != n) {
      throw Error(ErrorCode::kInternal, "partitions that train side by side differ in size");
    }
  }
  if (n == 0) return;
  std::vector<int64_t> seeds;
  std::vector<int64_t> steps;
  for (int lane = 0; lane < lanes_; ++lane) {
    const bool padding = lane >= static_cast<int>(visits->size());
    const LaneVisit& visit = (*visits)[padding ? 0 : static_cast<size_t>(lane)];
    seeds.push_back(static_cast<int64_t>(visit.trainer->seed()));
    steps.push_back(visit.state->step);
  }
  CopyIn(at::from_blob(seeds.data(), {lanes_}, at::kLong), seeds_);
  CopyIn(at::from_blob(steps.data(), {lanes_}, at::kLong), steps_);
  loss_sums_.zero_();
  metric_sums_.zero_();
  taken_.zero_();
  failed_at_.fill_(-1);

  const int64_t batch = std::min(fit_.batch_size, n);
  const Work work = metrics ? Work::kTrainWithMetrics : Work::kTrain;
  int64_t done = 0;
  for (int64_t epoch = 0; epoch < fit_.epochs; ++epoch) {
    const auto cancelled = [&] {
      for (LaneVisit& visit : *visits) visit.end = VisitEnd::kCancelled;
    };
    if (!UploadEpoch(*visits, data, epoch, cancel)) return cancelled();
    for (int64_t first = 0; first < n; first += batch) {
      if (cancel.load(std::memory_order_relaxed)) return cancelled();
      StepFor(data, std::min(batch, n - first), work).Run();
      if (++done % kThrottle == 0) device_->Throttle();
    }
  }

  // Here the host waits for the device, once.
  const at::Tensor finite = at::isfinite(params_).all(1).cpu();
  const at::Tensor failed = failed_at_.cpu();
  std::vector<MetricSums> sums = TakeSums(static_cast<int>(visits->size()), n * fit_.epochs);
  for (size_t lane = 0; lane < visits->size(); ++lane) {
    LaneVisit& visit = (*visits)[lane];
    visit.sums = std::move(sums[lane]);
    if (!metrics) visit.sums.metrics.clear();
    const int64_t failed_at = failed.const_data_ptr<int64_t>()[lane];
    const bool loss_failed = failed_at >= 0;
    const bool fails = loss_failed || !finite.const_data_ptr<bool>()[lane];
    visit.end = fails ? VisitEnd::kNotFinite : VisitEnd::kDone;
    visit.state->step += loss_failed ? failed_at : done;
    visit.state->examples += n * fit_.epochs;
  }
}

bool LaneArray::Evaluate(const std::vector<const float*>& weights, const LaneData& data,
                         const std::atomic<bool>& cancel, std::vector<MetricSums>* sums) {
  const at::NoGradGuard no_grad;
  if (!evaluated_.defined()) evaluated_ = at::zeros_like(params_);
  const int64_t floats = network_.spec().flat_size;
  for (size_t lane = 0; lane < weights.size(); ++lane) {
    CopyIn(at::from_blob(const_cast<float*>(weights[lane]), {floats}, at::kFloat),
           evaluated_[static_cast<int64_t>(lane)]);
  }
  loss_sums_.zero_();
  metric_sums_.zero_();
  cursor_.zero_();
  const int64_t batch =
      std::min(EvaluationBatch(network_.spec()), std::max<int64_t>(data.rows(), 1));
  int64_t done = 0;
  for (int64_t first = 0; first < data.rows(); first += batch) {
    if (cancel.load(std::memory_order_relaxed)) return false;
    StepFor(data, std::min(batch, data.rows() - first), Work::kEvaluate).Run();
    if (++done % kThrottle == 0) device_->Throttle();
  }
  *sums = TakeSums(static_cast<int>(weights.size()), data.rows());
  return true;
}

}  // namespace hopper
