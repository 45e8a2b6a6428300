#include "engine/evaluation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "engine/failure.h"

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
  cancel_.store(true);
  workers_.Join();
  account_->Release();
}

void Evaluation::AddBuffer(const hopper_buffer& buffer) { data_.AddBuffer(buffer); }

void Evaluation::Start() {
  if (started_) throw Error(ErrorCode::kInternal, "the evaluation has been started already");
  data_.CheckComplete();
  started_ = true;
  start_time_ = MonotonicSeconds();
  sums_.resize(static_cast<size_t>(data_.n_partitions()));
  unfinished_ = data_.n_partitions();
  try {
    workers_.Start(
        threads_, account_, [](const std::string&) {}, [this] { Work(); });
  } catch (...) {
    cancel_.store(true);
    throw;
  }
}

void Evaluation::Work() {
  while (!cancel_.load()) {
    const int partition = next_.fetch_add(1);
    if (partition >= data_.n_partitions()) return;
    MetricSums sums;
    Problem problem;
    bool failed = false;
    try {
      if (trainer_->Evaluate(state_.params.data(), data_.partition(partition), cancel_, &sums) !=
          VisitEnd::kDone) {
        return;
      }
    } catch (...) {
      failed = true;
      problem = DescribeException();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failed) {
      failed_ = true;
      failure_ = std::move(problem);
      cancel_.store(true);
    } else {
      sums_[static_cast<size_t>(partition)] = std::move(sums);
      --unfinished_;
    }
    if (failed_ || unfinished_ == 0) WakeEventFd(event_fd_);
  }
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
