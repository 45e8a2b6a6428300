#include "engine/evaluation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "engine/failure.h"
#include "engine/memory_plan.h"

namespace hopper {

Evaluation::Evaluation(const hopper_config& config, const hopper_data_desc& data, int32_t threads,
                       int32_t event_fd)
    : data_(data),
      confusion_(config.confusion != 0),
      threads_(std::clamp(threads, 1, std::max(data_.n_partitions(), 1))),
      event_fd_(event_fd),
      trainer_(MakeTrainer(config, data_.desc(), /*run_seed=*/0)),
      account_(nullptr) {
  const ModelSpec& spec = trainer_->network().spec();
  if (config.state != nullptr) {
    ModelState state = ReadState(StateLayoutOf(spec), config.state, config.state_size);
    if (state.optimizer == SlotNames(trainer_->compile().optimizer)) {
      state.params = trainer_->DeliveredWeights(state, nullptr);
    }
    state_ = std::move(state);
  } else if (config.weights != nullptr) {
    state_ = trainer_->InitialState(config.weights, "");
  } else {
    throw Error(ErrorCode::kInvalidParameter, "a model without weights cannot be evaluated");
  }
  account_ = MemoryAccount::Create(std::numeric_limits<int64_t>::max());
}

Evaluation::~Evaluation() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancel_.store(true);
  }
  wake_.notify_all();
  workers_.Join();
  account_->Release();
}

void Evaluation::Limit(int64_t memory_limit) {
  if (started_) throw Error(ErrorCode::kInternal, "the evaluation has been started already");
  const int64_t largest = data_.PartitionBytes(0);
  ModelMemory model;
  model.state = static_cast<int64_t>((state_.params.size() + state_.slots.size()) * sizeof(float));
  model.task = trainer_->EvaluationEstimate();
  if (model.alone() + largest > memory_limit) {
    throw Error(NoRoomForData(memory_limit, {model}, data_, nullptr));
  }
  const int64_t left = memory_limit - model.state - largest;
  threads_ = static_cast<int32_t>(
      std::clamp<int64_t>(left / std::max<int64_t>(model.task, 1), 1, threads_));
  room_ = memory_limit - model.state - model.task * threads_;
  limited_ = true;
}

bool Evaluation::Room(int partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failed_) throw Error(failure_);
  if (!started_ || !limited_) {
    throw Error(ErrorCode::kInternal, "the evaluation does not take its data in turns");
  }
  for (; come_ < std::min(partition, data_.n_partitions()); ++come_) {
    data_.EndPartition(come_);
    ready_.push_back(come_);  // without rows, or there would have been buffers
    wake_.notify_one();
  }
  if (partition >= data_.n_partitions()) return true;
  return data_.bytes() + data_.PartitionBytes(partition) <= room_;
}

void Evaluation::AddBuffer(const hopper_buffer& buffer) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    data_.AddBuffer(buffer);
    if (!limited_) return;
    const DataDesc& desc = data_.desc();
    const int64_t count = PartitionRange(desc.n_rows, desc.n_partitions, buffer.partition_id).count;
    if (data_.partition(buffer.partition_id).n < count) return;
    data_.EndPartition(buffer.partition_id);
    come_ = std::max(come_, buffer.partition_id + 1);
    ready_.push_back(buffer.partition_id);
  }
  wake_.notify_one();
}

void Evaluation::Start() {
  if (started_) throw Error(ErrorCode::kInternal, "the evaluation has been started already");
  if (!limited_) {
    data_.CheckComplete();
    for (int p = 0; p < data_.n_partitions(); ++p) ready_.push_back(p);
  }
  started_ = true;
  start_time_ = MonotonicSeconds();
  sums_.resize(static_cast<size_t>(data_.n_partitions()));
  unfinished_ = data_.n_partitions();
  try {
    workers_.Start(
        threads_, account_, [](const std::string&) {}, [this] { Work(); });
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
    return trainer_->Evaluate(state_.params.data(), data_.partition(partition), cancel_, sums) ==
           VisitEnd::kDone;
  } catch (...) {
    *problem = DescribeException();
    return false;
  }
}

void Evaluation::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!cancel_.load() && taken_ < data_.n_partitions()) {
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
      if (!problem.message.empty() && !failed_) {
        failed_ = true;
        failure_ = std::move(problem);
      }
      cancel_.store(true);
    } else {
      sums_[static_cast<size_t>(partition)] = std::move(sums);
      --unfinished_;
      if (limited_) data_.Drop(partition);
    }
    if (failed_ || unfinished_ == 0 || limited_) WakeEventFd(event_fd_);
  }
  wake_.notify_all();
}

bool Evaluation::Poll(hopper_event* event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!started_) throw Error(ErrorCode::kInternal, "the evaluation has not been started");
  if (failed_) throw Error(failure_);
  if (unfinished_ > 0) return false;
  MetricSums total;
  for (const MetricSums& sums : sums_) total.Add(sums);
  *event = hopper_event{};
  event->type = HOPPER_EVENT_METRICS;
  event->split = HOPPER_SPLIT_VALID;
  event->n_live = 1;
  event->elapsed = MonotonicSeconds() - start_time_;
  std::vector<double> metrics;
  trainer_->Finish(total, state_.params.data(), &event->loss, &metrics);
  if (confusion_) {
    // It is the last metric, and all of its sums are wanted.
    metrics.pop_back();
    const int64_t units = OutputUnits();
    const size_t n = static_cast<size_t>(units == 1 ? 4 : units * units);
    matrix_.assign(total.metrics.end() - static_cast<std::ptrdiff_t>(n), total.metrics.end());
  }
  event->n_metrics = static_cast<int32_t>(metrics.size());
  std::copy(metrics.begin(), metrics.end(), event->metrics);
  return true;
}

int64_t Evaluation::OutputUnits() const {
  const Shape& output = trainer_->network().spec().output_shape();
  return output.empty() ? 1 : output.back();
}

const int64_t* Evaluation::Confusion(int32_t* n) const {
  if (matrix_.empty()) throw Error(ErrorCode::kInternal, "no confusion matrix was counted");
  const int64_t units = OutputUnits();
  *n = static_cast<int32_t>(units == 1 ? 2 : units);
  return matrix_.data();
}

}  // namespace hopper
