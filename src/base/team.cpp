#include "base/team.h"

#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "base/block_signals.h"
#include "base/cancel.h"
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
        std::exception_ptr unprepared;
        try {
          prepare();
        } catch (...) {
          unprepared = std::current_exception();
        }
        Serve(part, unprepared);
      });
    }
  } catch (const std::system_error&) {  // too many threads on this machine: slower, the same bits
  } catch (const std::bad_alloc&) {     // as few
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
  RunPart(0, nullptr);
  for (int part = static_cast<int>(threads_.size()) + 1; part < size_; ++part) {
    RunPart(part, nullptr);
  }
  Await();
  if (!failed_.load(std::memory_order_relaxed)) return;
  failed_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

// Until the other members are done: what they work on is the caller's.
void Team::Await() {
  const auto all_done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (Spin(all_done)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, all_done);
}

// An exception that left a thread would end the process.
void Team::RunPart(int part, const std::exception_ptr& unprepared) {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    if (unprepared != nullptr) std::rethrow_exception(unprepared);
    function_(context_, part);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_ == nullptr) error_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
  }
}

void Team::Serve(int part, const std::exception_ptr& unprepared) {
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
    // The owner looks at its own cancel. What it or another part throws ends this part, too.
    const CancelScope failed(failed_);
    RunPart(part, unprepared);
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
