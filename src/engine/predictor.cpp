#include "engine/predictor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/events.h"
#include "engine/failure.h"
#include "train/forward.h"

namespace hopper {

namespace {

constexpr int32_t kMaxThreads = 1024;

}  // namespace

Predictor::Predictor(std::string_view model_arch, const float* weights, int64_t n_weights,
                     const hopper_data_desc& data, int32_t threads, int32_t event_fd)
    : data_(data), event_fd_(event_fd), account_(nullptr) {
  auto spec = ParseModel(model_arch, &data_.x_shape);
  if (ElementCount(spec->input_shape()) != data_.x_elements()) {
    throw Error(ErrorCode::kInvalidParameter,
                "model expects input of shape " + ShapeText(spec->input_shape()) +
                    " but the data hold " + std::to_string(data_.x_elements()) + " values a row");
  }
  if (weights == nullptr) {
    throw Error(ErrorCode::kInvalidParameter, "a model without weights cannot predict");
  }
  CheckWeightCount(*spec, n_weights);
  const int64_t outputs = ElementCount(spec->output_shape());
  if (outputs > std::numeric_limits<int32_t>::max()) {
    throw Error(ErrorCode::kLimitExceeded, "model has too many outputs");
  }
  n_outputs_ = static_cast<int32_t>(outputs);
  flat_ = AlignedArray<float>(static_cast<size_t>(spec->flat_size));
  ImportWeights(*spec, weights, flat_.data());
  network_ = std::make_shared<const Network>(std::move(spec));
  account_ = MemoryAccount::Create(std::numeric_limits<int64_t>::max());
  try {
    workers_.Start(
        std::clamp(threads, 1, kMaxThreads), account_, [](const std::string&) {},
        [this] { Work(); });
  } catch (...) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    workers_.Join();
    account_->Release();
    throw;
  }
}

Predictor::~Predictor() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  workers_.Join();
  account_->Release();
}

void Predictor::Submit(const void* x, size_t x_size, int32_t n) {
  if (n < 1 || x == nullptr || x_size != static_cast<size_t>(n) * data_.x_bytes()) {
    throw Error(ErrorCode::kInvalidParameter,
                std::to_string(n) + " examples do not take " + std::to_string(x_size) + " bytes",
                "One example takes " + std::to_string(data_.x_bytes()) + " bytes.");
  }
  auto job = std::make_shared<Job>();
  job->n = n;
  job->x = AlignedArray<uint8_t>(x_size);
  std::memcpy(job->x.data(), x, x_size);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    order_.push_back(job);
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
}

bool Predictor::Take(const float** outputs, int32_t* n) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (order_.empty() || !order_.front()->done) return false;
    job = std::move(order_.front());
    order_.pop_front();
  }
  taken_ = std::move(job);
  if (taken_->failed) throw Error(taken_->failure);
  *outputs = taken_->outputs.data();
  *n = taken_->n;
  return true;
}

void Predictor::Work() {
  std::optional<ForwardPass> forward;
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      if (!forward.has_value()) forward.emplace(network_, data_, flat_.data());
      job->outputs.resize(static_cast<size_t>(job->n) * static_cast<size_t>(n_outputs_));
      forward->Run(job->x.data(), job->n, job->outputs.data());
    } catch (...) {
      job->failed = true;
      job->failure = DescribeException();
    }
    job->x = AlignedArray<uint8_t>();
    bool first = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job->done = true;
      first = !order_.empty() && order_.front() == job;
    }
    if (first) WakeEventFd(event_fd_);
  }
}

}  // namespace hopper
