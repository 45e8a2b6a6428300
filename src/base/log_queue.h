// What compute threads have to say, waiting for the one thread that may say it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace hopper {

// Bounded first-in, first-out queue for any number of threads. A full queue drops the new entry
// and counts it: a flood of messages must neither block training nor eat the memory.
template <typename T>
class LogQueue {
 public:
  explicit LogQueue(size_t capacity) : capacity_(capacity) {}

  // False where the queue was full.
  bool Push(T entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.size() >= capacity_) {
      ++dropped_;
      return false;
    }
    entries_.push_back(std::move(entry));
    return true;
  }
  // False where nothing waits.
  bool Pop(T* entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.empty()) return false;
    *entry = std::move(entries_.front());
    entries_.pop_front();
    return true;
  }
  uint64_t dropped() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return dropped_;
  }

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::deque<T> entries_;
  uint64_t dropped_ = 0;
};

}  // namespace hopper
