#include "engine/evaluation.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "engine/memory_plan.h"
#include "engine/sums_bytes.h"
#include "metrics/metric_sums.h"
#include "train/sums.h"

namespace hopper {

namespace {

// What each process' sums begin with, before their number.
constexpr uint8_t kSumsVersion = 1;

std::unique_ptr<const Trainer> OneTrainer(const TrainingBackend& backend,
                                          const ConfigSource& config, const DataDesc& data) {
  Networks networks(backend);
  return MakeTrainer(config, data, /*run_seed=*/0, Precision::kFp32, &networks);
}

}  // namespace

Evaluation::Evaluation(const TrainingBackend& backend, const ConfigSource& config,
                       const DataDesc& data, int32_t threads, int32_t event_fd)
    : backend_(backend),
      data_(data),
      confusion_(config.confusion),
      threads_(std::clamp(threads, 1, std::max(data_.n_partitions(), 1))),
      event_fd_(event_fd),
      trainer_(OneTrainer(backend, config, data_.desc())) {
  const ModelSpec& spec = trainer_->network().spec();
  if (config.state != nullptr) {
    ModelState state = ReadState(StateLayoutOf(spec), config.state, config.state_size);
    if (state.optimizer == SlotNames(trainer_->compile().optimizer) &&
        state.n_slots == SlotCount(trainer_->compile().optimizer)) {
      state.params = trainer_->DeliveredWeights(state, nullptr);
    }
    state_ = std::move(state);
  } else if (config.n_weights > 0) {
    state_.params = AlignedArray<float>(static_cast<size_t>(spec.flat_size));
    import_.emplace(spec, config.n_weights, state_.params.data());
    if (config.weights != nullptr) import_->Add(config.weights, config.n_weights);
  } else {
    throw Error(ErrorCode::kInvalidParameter, "a model without weights cannot be evaluated");
  }
  for (int p = 0; p < data_.n_partitions(); ++p) chosen_.push_back(p);
  account_ = MemoryAccount::Create(std::numeric_limits<int64_t>::max());
}

Evaluation::~Evaluation() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancel_.store(true);
  }
  wake_.notify_all();
  workers_.Join();
}

void Evaluation::AddWeights(const float* weights, int64_t n) {
  if (started_ || !import_.has_value()) {
    throw Error(ErrorCode::kInternal, "an evaluation got weights that it does not wait for");
  }
  import_->Add(weights, n);
}

void Evaluation::Limit(int64_t memory_limit) {
  if (started_) throw Error(ErrorCode::kInternal, "the evaluation has been started already");
  DataMemory data;
  for (const int32_t p : chosen_) data.Add(data_, p);
  ModelMemory model;
  model.state = static_cast<int64_t>((state_.params.size() + state_.slots.size()) * sizeof(float));
  // A confusion matrix has the square of the classes' number, for each partition and as what is
  // returned; that of the total has the room of a task.
  const double sums = static_cast<double>(SumCount()) * static_cast<double>(chosen_.size() + 1);
  model.state += static_cast<int64_t>(std::min(sums * sizeof(double), 1e18));
  model.task = trainer_->EvaluationEstimate();
  if (model.alone() + data.largest > memory_limit) {
    throw Error(NoRoomForData(memory_limit, {model}, data_, nullptr));
  }
  const int64_t left = memory_limit - model.state - data.largest;
  threads_ = static_cast<int32_t>(
      std::clamp<int64_t>(left / std::max<int64_t>(model.task, 1), 1, threads_));
  room_ = memory_limit - model.state - model.task * threads_;
  if (data.all > room_) room_ = std::max(room_ - data.reading, data.largest);
  limited_ = true;
}

bool Evaluation::Room(int partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.has_value()) throw Error(*failure_);
  if (!started_ || !limited_) {
    throw Error(ErrorCode::kInternal, "the evaluation does not take its data in turns");
  }
  for (; come_ < std::min(partition, data_.n_partitions()); ++come_) {
    if (!IsChosen(come_)) continue;
    data_.EndPartition(come_);
    ready_.push_back(come_);  // without rows, or there would have been buffers
    wake_.notify_one();
  }
  // Of a partition that there is not AddBuffer() speaks.
  if (partition < 0 || partition >= data_.n_partitions()) return true;
  return data_.bytes() + data_.PartitionBytes(partition) <= room_;
}

void Evaluation::Choose(std::vector<int32_t> partitions) {
  if (started_) throw Error(ErrorCode::kInternal, "the evaluation has been started already");
  chosen_ = std::move(partitions);
}

bool Evaluation::IsChosen(int32_t partition) const {
  return std::binary_search(chosen_.begin(), chosen_.end(), partition);
}

void Evaluation::AddBuffer(const PackedBuffer& buffer) {
  if (!IsChosen(buffer.partition_id)) {
    throw Error(ErrorCode::kCorrupt, "partition " + std::to_string(buffer.partition_id) + " of \"" +
                                         data_.desc().table_name + "\" does not belong here");
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    data_.AddBuffer(buffer);
    if (!limited_) return;
    if (!data_.IsComplete(buffer.partition_id)) return;
    data_.EndPartition(buffer.partition_id);
    come_ = std::max(come_, buffer.partition_id + 1);
    ready_.push_back(buffer.partition_id);
  }
  wake_.notify_one();
}

void Evaluation::Start() {
  if (started_) throw Error(ErrorCode::kInternal, "the evaluation has been started already");
  if (import_.has_value() && !import_->complete()) {
    throw Error(ErrorCode::kInternal, "an evaluation lacks weights");
  }
  trainer_->FrozenOf(&state_);
  if (!limited_) {
    data_.CheckComplete(chosen_);
    ready_.assign(chosen_.begin(), chosen_.end());
  }
  started_ = true;
  start_time_ = MonotonicSeconds();
  sums_.resize(static_cast<size_t>(data_.n_partitions()));
  unfinished_ = chosen_.size();
  try {
    workers_.Start(threads_, backend_.Setting({account_.get()}), [this] { Work(); });
  } catch (...) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      cancel_.store(true);
    }
    wake_.notify_all();
    throw;
  }
}

// False: cancelled, or *problem says what failed.
bool Evaluation::Evaluate(int partition, MetricSums* sums, Problem* problem) {
  try {
    return trainer_->Evaluate(state_.params.data(), data_.partition(partition), cancel_, sums,
                              state_.frozen) == VisitEnd::kDone;
  } catch (...) {
    *problem = backend_.Describe();
    return false;
  }
}

void Evaluation::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!cancel_.load() && taken_ < chosen_.size()) {
    if (ready_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const int partition = ready_.front();
    ready_.pop_front();
    ++taken_;
    lock.unlock();
    MetricSums sums;
    Problem problem;
    const bool done = Evaluate(partition, &sums, &problem);
    lock.lock();
    if (!done) {
      if (!problem.message.empty() && !failure_.has_value()) {
        failure_ = std::move(problem);
      }
      cancel_.store(true);
    } else {
      sums_[static_cast<size_t>(partition)] = std::move(sums);
      --unfinished_;
      if (limited_) data_.Drop(partition);
    }
    if (failure_.has_value() || unfinished_ == 0 || limited_) WakeEventFd(event_fd_);
  }
  wake_.notify_all();
}

bool Evaluation::Finished() const {
  if (!started_) throw Error(ErrorCode::kInternal, "the evaluation has not been started");
  if (failure_.has_value()) throw Error(*failure_);
  return unfinished_ == 0;
}

bool Evaluation::Poll(Event* event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Finished()) return false;
  Finish(sums_, event);
  return true;
}

bool Evaluation::Sums(const uint8_t** bytes, size_t* size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Finished()) return false;
  ByteWriter out;
  out.Put<uint8_t>(kSumsVersion);
  out.Put<uint32_t>(static_cast<uint32_t>(chosen_.size()));
  for (const int32_t partition : chosen_) {
    out.Put<int32_t>(partition);
    PutSums(sums_[static_cast<size_t>(partition)], &out);
  }
  bytes_ = out.Take();
  *bytes = bytes_.data();
  *size = bytes_.size();
  return true;
}

void Evaluation::Total(const uint8_t* bytes, size_t size, Event* event) {
  const auto n = static_cast<size_t>(data_.n_partitions());
  const auto n_sums = static_cast<size_t>(SumCount());
  std::vector<MetricSums> sums(n);
  std::vector<bool> known(n);
  const auto require = [](bool holds) {
    if (!holds) {
      throw Error(ErrorCode::kCorrupt, "the sums of an evaluation are not those of its partitions");
    }
  };
  ByteReader in(bytes, size, "the sums of an evaluation");
  while (in.remaining() > 0) {
    require(in.Get<uint8_t>() == kSumsVersion);
    for (auto left = in.Get<uint32_t>(); left > 0; --left) {
      const auto partition = static_cast<size_t>(in.Get<int32_t>());
      MetricSums part = GetSums(&in);
      require(partition < n && !known[partition] && part.metrics.size() == n_sums);
      known[partition] = true;
      sums[partition] = std::move(part);
    }
  }
  require(std::find(known.begin(), known.end(), false) == known.end());
  Finish(sums, event);
}

void Evaluation::Finish(const std::vector<MetricSums>& parts, Event* event) {
  MetricSums total;
  for (const MetricSums& sums : parts) total.Add(sums);
  *event = Event();
  event->type = EventType::kMetrics;
  event->split = kValidSplit;
  event->n_live = 1;
  event->elapsed = started_ ? MonotonicSeconds() - start_time_ : 0.0;
  trainer_->Finish(total, &event->loss, &event->metrics);
  if (confusion_) {
    // It is the last metric, and all of its sums are wanted.
    event->metrics.pop_back();
    const int64_t units = OutputUnits();
    const size_t n = static_cast<size_t>(units == 1 ? 4 : units * units);
    matrix_.assign(total.metrics.end() - static_cast<std::ptrdiff_t>(n), total.metrics.end());
  }
}

int64_t Evaluation::SumCount() const {
  return hopper::SumCount(trainer_->compile(), trainer_->network().spec());
}

int64_t Evaluation::OutputUnits() const {
  const Shape& output = trainer_->network().spec().outputs[0].shape;
  return output.empty() ? 1 : output.back();
}

const int64_t* Evaluation::Confusion(int32_t* n) const {
  if (matrix_.empty()) throw Error(ErrorCode::kInternal, "no confusion matrix was counted");
  const int64_t units = OutputUnits();
  *n = static_cast<int32_t>(units == 1 ? 2 : units);
  return matrix_.data();
}

}  // namespace hopper
