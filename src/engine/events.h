// Events on their way from the workers to the one thread that reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "base/field_text.h"
#include "model_hopper/events.h"

namespace hopper {

// Writes to an eventfd, which wakes its reader; nothing for a negative fd.
void WakeEventFd(int fd);

// The texts of a problem in an event.
void SetProblem(const Problem& problem, hopper_event* event);

// What libtorch warns of: each text is told once in a run, and not more than a few.
class LibtorchWarnings {
 public:
  // True: *problem tells it.
  bool IsNew(const std::string& text, Problem* problem);

 private:
  std::set<std::string> told_;
};

// First in, first out, for any number of threads. No event is lost: who causes them looks whether
// the queue is full before it goes on. The reader takes all that there are whenever it is woken; it
// is not woken again for those that come meanwhile. What it only writes down (metrics, iterations)
// wakes it once there is much of it.
class EventQueue {
 public:
  explicit EventQueue(int event_fd) : event_fd_(event_fd) {}

  void Push(const hopper_event& event);
  // The event that comes behind all others; needs no memory, so that it comes whatever happens.
  void PushLast(const hopper_event& event) noexcept;
  // As Push(), without waking the reader for this event alone.
  void PushQuietly(const hopper_event& event);
  // An event for each iteration from that of `event` to `last`; quietly.
  void PushIterations(const hopper_event& event, int32_t last);
  // *has_room_again: it was full before, and is not now.
  bool Pop(hopper_event* event, bool* has_room_again);
  bool IsFull() const;
  // Wakes the reader without an event.
  void Wake() const { WakeEventFd(event_fd_); }

 private:
  static constexpr size_t kMostEvents = 4096;
  static constexpr size_t kManyEvents = 256;
  struct Entry {
    explicit Entry(const hopper_event& event, int32_t last);
    hopper_event event() const;
    // Without its texts, which most have not.
    std::array<unsigned char, offsetof(hopper_event, message)> numbers;
    std::unique_ptr<const hopper_event> whole;
    int32_t iteration;
    int32_t last_iteration;
  };
  void Add(const hopper_event& event, int32_t last, size_t wakes_from);

  const int event_fd_;
  mutable std::mutex mutex_;
  std::deque<Entry> events_;
  bool woken_ = false;  // the reader has not come to the end since it was woken
  bool has_last_ = false;
  hopper_event last_ = {};
};

}  // namespace hopper
