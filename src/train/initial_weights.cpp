#include "train/initial_weights.h"

#include "base/pieces.h"

namespace hopper {

void InitialWeights::Expect(const ModelSpec& spec, uint64_t seed) {
  const std::string key = WeightInitializer::Key(spec, seed);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto at = jobs_.find(key);
  if (at == jobs_.end()) at = jobs_.emplace(key, std::make_shared<Job>()).first;
  Job* job = at->second.get();
  job->bytes = static_cast<int64_t>(spec.flat_size) * static_cast<int64_t>(sizeof(float));
  ++job->expected;
}

int64_t InitialWeights::SharedBytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [key, job] : jobs_) bytes += job->expected > 1 ? job->bytes : 0;
  return bytes;
}

bool InitialWeights::Get(const ModelSpec& spec, uint64_t seed, const std::atomic<bool>& cancel,
                         float* flat) {
  const std::string key = WeightInitializer::Key(spec, seed);
  std::shared_ptr<Job> job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = jobs_.find(key);
    if (at != jobs_.end()) {
      job = at->second;
      if (--job->expected <= 0) jobs_.erase(at);
    }
    if (job != nullptr && job->initializer == nullptr) {
      if (job->expected > 0 && job->bytes <= most_ - kept_) {
        job->weights = AlignedArray<float>(static_cast<size_t>(spec.flat_size));
        job->initializer = std::make_unique<const WeightInitializer>(spec, seed);
        kept_ += job->bytes;
        made_.fetch_add(1, std::memory_order_relaxed);
      } else {
        job = nullptr;  // nobody else wants them, or there is no room
      }
    }
  }
  if (job == nullptr) {
    made_.fetch_add(1, std::memory_order_relaxed);
    ZeroInPieces(flat, sizeof(float) * static_cast<size_t>(spec.flat_size));
    const WeightInitializer initializer(spec, seed);
    for (int64_t i = 0; i < initializer.pieces(); ++i) {
      if (cancel.load(std::memory_order_relaxed) || !initializer.Fill(i, cancel, flat)) {
        return false;
      }
    }
    return true;
  }
  if (!Help(job.get(), cancel)) return false;
  CopyInPieces(flat, job->weights.data(), sizeof(float) * static_cast<size_t>(spec.flat_size));
  return true;
}

// Takes pieces as long as there are some, then waits for those of others.
bool InitialWeights::Help(Job* job, const std::atomic<bool>& cancel) {
  for (;;) {
    const int64_t piece = job->next.fetch_add(1);
    if (piece >= job->initializer->pieces()) break;
    bool filled = false;
    std::exception_ptr failure;
    try {
      filled = !cancel.load(std::memory_order_relaxed) &&
               job->initializer->Fill(piece, cancel, job->weights.data());
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    ++job->finished;
    job->cancelled = job->cancelled || !filled;
    if (failure != nullptr) job->failure = failure;
    job->done.notify_all();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  job->done.wait(lock, [&] { return job->finished == job->initializer->pieces(); });
  if (job->failure != nullptr) std::rethrow_exception(job->failure);
  return !job->cancelled;
}

}  // namespace hopper
