#include "predict/predictor.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "base/event_fd.h"
#include "base/number_text.h"
#include "model/planned/plan_memory.h"
#include "model/work.h"
#include "model_hopper/limits.h"

namespace hopper {

namespace {

// Beside those under way: what the caller reads, and what was taken last.
constexpr int64_t kBatchesBeside = 2;
// Floating-point operations of an example that are computed in less time, some 0.1 ms, than it may
// take until another thread has begun, and after which a cancel is still answered at once.
constexpr double kAtOnceFlops = 2e6;

}  // namespace

Predictor::Predictor(const PredictionBackend& backend, std::string_view model_arch,
                     int64_t n_weights, const DataDesc& data, int32_t threads, int64_t memory_limit,
                     int32_t event_fd, const char* layer)
    : backend_(backend),
      data_(data),
      event_fd_(event_fd),
      threads_(std::clamp(threads, 1, HOPPER_MAX_THREADS)),
      account_(MemoryAccount::Create(memory_limit)) {
  Prepare(model_arch, n_weights, layer);
}

void Predictor::Prepare(std::string_view model_arch, int64_t n_weights, const char* layer) {
  auto spec = layer == nullptr ? ParseModelFor(model_arch, data_.inputs)
                               : ParseModelUpTo(model_arch, data_.inputs, layer);
  if (ElementCount(spec->input_shape()) != data_.x_elements()) {
    throw Error(ErrorCode::kInvalidParameter,
                "model expects input of shape " + ShapeText(spec->input_shape()) +
                    " but the data hold " + std::to_string(data_.x_elements()) + " values a row");
  }
  CheckWeightCount(*spec, n_weights);
  const int64_t outputs = spec->OutputValues();
  if (outputs > std::numeric_limits<int32_t>::max()) {
    throw Error(ErrorCode::kLimitExceeded, "model has too many outputs");
  }
  n_outputs_ = static_cast<int32_t>(outputs);
  const auto bytes = static_cast<int64_t>(sizeof(float)) * spec->flat_size;
  if (bytes > account_->limit()) {
    throw Error(ErrorCode::kOutOfMemory, "out of memory",
                "The weights take " + BytesText(bytes) + "; hopper.memory_limit is " +
                    BytesText(account_->limit()) + ".",
                "Raise hopper.memory_limit.");
  }
  account_->Add(bytes);
  flat_ = AlignedArray<float>(static_cast<size_t>(spec->flat_size));
  import_.emplace(*spec, n_weights, flat_.data());
  network_ = backend_.MakeNetwork(std::move(spec));
}

// Of examples and their outputs.
int64_t Predictor::BatchBytes(int32_t rows) const {
  return rows * (static_cast<int64_t>(data_.x_bytes()) + n_outputs_ * int64_t{sizeof(float)});
}

void Predictor::Plan(PredictionPlan* plan) {
  if (rows_ > 0 || plan->rows < 1 || plan->batches < 1) {
    throw Error(ErrorCode::kInternal, "a prediction was planned twice, or for nothing");
  }
  if (!import_->complete()) throw Error(ErrorCode::kInternal, "a predictor lacks weights");
  const int64_t room = account_->limit() - account_->used();
  int32_t rows = plan->rows;
  int64_t pass = 0;
  int64_t batch = 0;
  for (;; rows = (rows + 1) / 2) {
    pass = ForwardPass::Bytes(*network_, data_, rows);
    batch = BatchBytes(rows);
    const int64_t least = (kBatchesBeside + 1) * batch;
    if (pass <= room && least <= room - pass) break;
    if (rows > 1) continue;
    const int64_t row = Saturated(static_cast<double>(pass) + static_cast<double>(least));
    throw Error(ErrorCode::kOutOfMemory, "out of memory",
                "The weights take " + BytesText(account_->used()) + " and a row " + BytesText(row) +
                    "; hopper.memory_limit is " + BytesText(account_->limit()) + ".",
                "Raise hopper.memory_limit.");
  }
  const int64_t left = room - kBatchesBeside * batch;
  const auto threads =
      static_cast<int32_t>(std::clamp<int64_t>(left / (pass + batch), 1, threads_));
  plan->rows = rows_ = rows;
  plan->batches = batches_ =
      static_cast<int32_t>(std::clamp<int64_t>((left - threads * pass) / batch, 1, plan->batches));
  plan->bytes = account_->used() + threads * pass + (batches_ + kBatchesBeside) * batch;
  n_threads_ = threads;
  at_once_ = rows == 1 && batches_ == 1 && PassFlops(network_->spec()) <= kAtOnceFlops;
  UsedLocked();  // the weights may have taken their time to come; nobody else is here yet
  workers_.Start(threads, backend_.Setting({account_.get()}), [this] { Work(); });
}

Predictor::~Predictor() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  workers_.Join();
  GiveBack();
}

void Predictor::ExpireAfter(double seconds, int64_t* counter, int64_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    expires_ = seconds > 0;
    idle_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    UsedLocked();
    counter_ = counter;
    counted_ = bytes;
  }
  wake_.notify_all();  // to wait no longer than this
}

bool Predictor::Touch() {
  const std::lock_guard<std::mutex> lock(mutex_);
  UsedLocked();
  return !expired_;
}

void Predictor::GiveBack() {
  if (counter_ != nullptr) __atomic_fetch_sub(counter_, counted_, __ATOMIC_RELAXED);
  counter_ = nullptr;
}

uint8_t* Predictor::Room() {
  if (room_.size() > 0) return room_.data();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (spare_.empty()) {
      // All are at jobs: a worker that gives one back needs no memory for it.
      spare_.reserve(jobs_.size() + 1);
    } else {
      room_ = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (room_.size() == 0) {
    room_ = AlignedArray<uint8_t>(static_cast<size_t>(rows_) * data_.x_bytes());
  }
  return room_.data();
}

void Predictor::Submit(const void* x, size_t x_size, int32_t n) {
  if (n < 1 || x == nullptr || x_size != static_cast<size_t>(n) * data_.x_bytes()) {
    throw Error(ErrorCode::kInvalidParameter,
                std::to_string(n) + " examples do not take " + std::to_string(x_size) + " bytes",
                "One example takes " + std::to_string(data_.x_bytes()) + " bytes.");
  }
  if (n > rows_) throw Error(ErrorCode::kInternal, "a batch has more rows than were planned");
  auto job = std::make_shared<Job>(account_.get(), BatchBytes(n));
  job->n = n;
  if (!at_once_) {
    if (x != room_.data()) std::memcpy(Room(), x, x_size);
    job->x = std::move(room_);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (expired_) throw Error(ErrorCode::kInternal, "the predictor has expired");
    if (jobs_.size() >= static_cast<size_t>(batches_)) {
      throw Error(ErrorCode::kInternal, "more batches are under way than were planned");
    }
    UsedLocked();
    jobs_.push_back(job);
    if (at_once_) {
      ++running_;
    } else {
      ++waiting_;
    }
  }
  if (!at_once_) {
    wake_.notify_one();
    return;
  }
  job->Try(backend_, [&] {
    WorkHere(backend_.Setting({account_.get()}),
             [&] { Compute(static_cast<const uint8_t*>(x), &here_, job.get()); });
  });
  const std::lock_guard<std::mutex> lock(mutex_);
  job->done = true;
  --running_;
  UsedLocked();
}

bool Predictor::Take(const float** outputs, int32_t* n) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (jobs_.empty() || !jobs_.front()->done) return false;
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  taken_ = std::move(job);
  if (taken_->cancelled) throw Cancelled();
  if (taken_->failed) throw Error(taken_->failure);
  *outputs = taken_->outputs.data();
  *n = taken_->n;
  return true;
}

std::shared_ptr<Predictor::Job> Predictor::NextJob() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_ && !expired_ && waiting_ == 0) {
    if (!expires_) {
      wake_.wait(lock);
    } else if (running_ > 0 || Clock::now() < deadline_) {
      wake_.wait_until(lock, std::max(deadline_, Clock::now() + std::chrono::milliseconds(1)));
    } else {
      expired_ = true;
      wake_.notify_all();
    }
  }
  if (stop_ || expired_) {
    --n_threads_;
    return nullptr;
  }
  std::shared_ptr<Job> job = jobs_[jobs_.size() - waiting_--];
  ++running_;
  return job;
}

void Predictor::FreeExpired() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!expired_ || n_threads_ > 0) return;
    here_.reset();
    spare_.clear();
    flat_ = AlignedArray<float>();
    network_.reset();
    GiveBack();
  }
  malloc_trim(0);
}

void Predictor::Compute(const uint8_t* x, std::unique_ptr<ForwardPass>* forward, Job* job) const {
  if (*forward == nullptr) {
    *forward = std::make_unique<ForwardPass>(network_, data_, flat_.data(), rows_);
  }
  job->outputs.resize(static_cast<size_t>(job->n) * static_cast<size_t>(n_outputs_));
  (*forward)->Run(x, job->n, job->outputs.data());
}

void Predictor::Work() {
  std::unique_ptr<ForwardPass> forward;
  while (const std::shared_ptr<Job> job = NextJob()) {
    job->Try(backend_, [&] { Compute(job->x.data(), &forward, job.get()); });
    bool first = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      spare_.push_back(std::move(job->x));
      job->done = true;
      --running_;
      UsedLocked();
      first = !jobs_.empty() && jobs_.front() == job;
    }
    if (first) WakeEventFd(event_fd_);
  }
  forward.reset();
  FreeExpired();
}

}  // namespace hopper
