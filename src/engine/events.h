// Events on their way from the workers to the one thread that reads them.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "base/error.h"
#include "model_hopper/core_api.h"

namespace hopper {

// Writes to an eventfd, which wakes its reader; nothing for a negative fd.
void WakeEventFd(int fd);

// Copies text into a fixed field, cut at a character's border.
void CopyText(const std::string& text, char* field, size_t size);
template <size_t N>
void CopyText(const std::string& text, char (&field)[N]) {
  CopyText(text, field, N);
}

// The texts of a problem in an event.
void SetProblem(const Problem& problem, hopper_event* event);

// First in, first out, for any number of threads. Unbounded: no event but a warning may be lost,
// and the number of events is that of metrics.
class EventQueue {
 public:
  explicit EventQueue(int event_fd) : event_fd_(event_fd) {}

  void Push(const hopper_event& event);
  // The event that comes behind all others; needs no memory, so that it comes whatever happens.
  void PushLast(const hopper_event& event) noexcept;
  bool Pop(hopper_event* event);
  // Wakes the reader without an event.
  void Wake() const { WakeEventFd(event_fd_); }

 private:
  const int event_fd_;
  std::mutex mutex_;
  std::deque<hopper_event> events_;
  bool has_last_ = false;
  hopper_event last_ = {};
};

}  // namespace hopper
