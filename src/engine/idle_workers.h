// Workers of a run, or of a segment's share of it, that have found nothing to do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/worker_memory.h"
#include "schedule/ready.h"

namespace hopper {

// All but WakeAll() under the lock that guards what they look for.
class IdleWorkers {
 public:
  // Until it is woken; others may need meanwhile what its thread has cached.
  void Wait(std::unique_lock<std::mutex>* lock) {
    MemoryScope::Trim();
    ++idle_;
    wake_.wait(*lock);
    --idle_;
    ++wakes_;
  }
  // Every worker that takes a task wakes the next one where there is another: as many are awake as
  // find work, and nobody is woken only to look. A worker that ends one looks for the next itself.
  void WakeNext(const ReadyModels& ready, int64_t room) {
    if (idle_ > 0 && ready.Best(room) >= 0) wake_.notify_one();
  }
  void WakeAll() { wake_.notify_all(); }
  // How often one was woken.
  int64_t wakes() const { return wakes_; }

 private:
  std::condition_variable wake_;
  int idle_ = 0;
  int64_t wakes_ = 0;
};

}  // namespace hopper
