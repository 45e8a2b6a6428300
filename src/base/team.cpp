#include "base/team.h"

#include <memory>
#include <system_error>

#include "base/block_signals.h"
#include "base/error.h"

namespace hopper {

namespace {

// The pauses between two calls within a step are a few microseconds; sleeping and waking takes
// longer. Beyond this many looks the processor belongs to others.
constexpr int kLooks = 2000;
constexpr int kMostMembers = 1024;

thread_local Team* current_team = nullptr;

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <typename Condition>
bool Spin(const Condition& condition) {
  for (int i = 0; i < kLooks; ++i) {
    if (condition()) return true;
    Relax();
  }
  return false;
}

}  // namespace

Team::Team(int size, const std::function<void()>& prepare) : size_(size) {
  const BlockSignals blocked;
  threads_.reserve(static_cast<size_t>(size));
  try {
    for (int part = 1; part < size; ++part) {
      threads_.emplace_back([this, prepare, part] {
        prepare();
        Serve(part);
      });
    }
  } catch (const std::system_error&) {  // too many threads on this machine: slower, the same bits
  }
}

Team::~Team() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_.store(true);
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::RunParts(Function function, void* context) {
  function_ = function;
  context_ = context;
  unfinished_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  {
    // Under the lock, so that nobody misses it between the look and the sleep.
    const std::lock_guard<std::mutex> lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
  }
  start_.notify_all();
  function(context, 0);
  for (int part = static_cast<int>(threads_.size()) + 1; part < size_; ++part) {
    function(context, part);
  }
  const auto all_done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (Spin(all_done)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, all_done);
}

void Team::Serve(int part) {
  uint64_t served = 0;
  for (;;) {
    const auto called = [&] {
      return generation_.load(std::memory_order_acquire) != served || ends_.load();
    };
    if (!Spin(called)) {
      std::unique_lock<std::mutex> lock(mutex_);
      start_.wait(lock, called);
    }
    if (ends_.load()) return;
    ++served;
    function_(context_, part);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
    const std::lock_guard<std::mutex> lock(mutex_);
    done_.notify_one();
  }
}

Team* Team::Current() { return current_team; }

TeamScope::TeamScope(int size, const std::function<void()>& prepare) {
  if (size < 2) return;
  if (size > kMostMembers) throw Error(ErrorCode::kInvalidParameter, "a team is too large");
  if (current_team != nullptr) throw Error(ErrorCode::kInternal, "a thread has two teams");
  team_ = std::make_unique<Team>(size, prepare).release();
  current_team = team_;
}

TeamScope::~TeamScope() {
  if (team_ == nullptr) return;
  current_team = nullptr;
  delete team_;
}

}  // namespace hopper
