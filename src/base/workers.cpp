#include "base/workers.h"

#include <condition_variable>
#include <mutex>
#include <system_error>

#include "base/block_signals.h"
#include "base/error.h"
#include "base/team.h"

namespace hopper {

namespace {

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

void RunWorker(const WorkerSetting& setting, const std::function<void()>& body,
               Beginning* beginning) {
  bool ready = false;
  try {
    const TeamScope team(setting.team_size, setting.member);
    const std::shared_ptr<void> around = setting.around();
    ready = true;
    beginning->Arrive(true);
    body();
  } catch (...) {  // bodies report their errors themselves; nothing may leave a thread
    if (!ready) beginning->Arrive(false);
  }
}

}  // namespace

WorkerSetting PlainSetting(const WorkerNeeds& needs) {
  return {[account = needs.account, promises = needs.promises] {
            return std::make_shared<MemoryScope>(account, promises);
          },
          needs.team_size, [] {}};
}

void WorkHere(const WorkerSetting& setting, const std::function<void()>& body) {
  const std::shared_ptr<void> around = setting.around();
  body();
}

void Workers::Start(int count, const WorkerSetting& setting, const std::function<void()>& body) {
  const BlockSignals blocked;
  threads_.reserve(threads_.size() + static_cast<size_t>(count));
  const auto beginning = std::make_shared<Beginning>();
  for (int i = 0; i < count; ++i) {
    try {
      threads_.emplace_back([=] { RunWorker(setting, body, beginning.get()); });
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
