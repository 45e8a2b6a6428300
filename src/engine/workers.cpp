#include "engine/workers.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>

#include "base/block_signals.h"
#include "base/error.h"
#include "base/team.h"

namespace hopper {

void WorkAlone() { at::set_num_threads(1); }

namespace {

// Hands libtorch's warnings on, which would otherwise be written to stderr.
class WarningRelay : public c10::WarningHandler {
 public:
  explicit WarningRelay(const WarningSink& sink) : sink_(sink) {}
  void process(const c10::Warning& warning) override {
    try {
      sink_(warning.msg());
    } catch (...) {  // no memory for a warning is no reason to stop
    }
  }

 private:
  const WarningSink& sink_;
};

// What `body` runs with, on any thread.
class Surroundings {
 public:
  Surroundings(int team_size, MemoryAccount* account, bool promises, const WarningSink& warn)
      : team_(team_size, WorkAlone), relay_(warn), guard_(&relay_), memory_(account, promises) {}

 private:
  TeamScope team_;
  WarningRelay relay_;
  c10::WarningUtils::WarningHandlerGuard guard_;
  TensorMemoryScope memory_;
};

// The new threads on their way into their bodies.
class Beginning {
 public:
  // A thread has all that its body needs, or will not come to run it.
  void Arrive(bool ready) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++(ready ? ready_ : failed_);
    arrived_.notify_one();
  }
  // Whether all of them run their bodies.
  bool Wait(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_.wait(lock, [&] { return ready_ + failed_ == count; });
    return failed_ == 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  int ready_ = 0;
  int failed_ = 0;
};

void RunWorker(int team_size, MemoryAccount* account, bool promises, const WarningSink& warn,
               const std::function<void()>& body, Beginning* beginning) {
  bool ready = false;
  try {
    WorkAlone();
    const Surroundings surroundings(team_size, account, promises, warn);
    ready = true;
    beginning->Arrive(true);
    body();
  } catch (...) {  // bodies report their errors themselves; nothing may leave a thread
    if (!ready) beginning->Arrive(false);
  }
}

}  // namespace

void WorkHere(MemoryAccount* account, const WarningSink& warn, const std::function<void()>& body) {
  thread_local bool alone = false;
  if (!alone) WorkAlone();
  alone = true;
  const Surroundings surroundings(1, account, false, warn);
  body();
}

void Workers::Start(int count, MemoryAccount* account, WarningSink warn, std::function<void()> body,
                    int team_size, bool promises) {
  const BlockSignals blocked;
  threads_.reserve(threads_.size() + static_cast<size_t>(count));
  const auto beginning = std::make_shared<Beginning>();
  for (int i = 0; i < count; ++i) {
    try {
      threads_.emplace_back(
          [=] { RunWorker(team_size, account, promises, warn, body, beginning.get()); });
    } catch (const std::system_error& e) {
      throw Error(
          ErrorCode::kOutOfMemory,
          "could not start worker thread " + std::to_string(i + 1) + " of " + std::to_string(count),
          e.what(), "Lower hopper.threads.");
    }
  }
  if (beginning->Wait(count)) return;
  throw Error(ErrorCode::kOutOfMemory, "there was no memory to start a worker thread", "",
              "Lower hopper.threads.");
}

void Workers::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  threads_.clear();
}

}  // namespace hopper
