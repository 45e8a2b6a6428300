#include "engine/events.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hopper {

void WakeEventFd(int fd) {
  if (fd < 0) return;
  const uint64_t one = 1;
  // EAGAIN means that the counter is full: the reader has plenty to wake up for.
  while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void CopyText(const std::string& text, char* field, size_t size) {
  size_t n = std::min(text.size(), size - 1);
  if (n < text.size()) {
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
  }
  std::memcpy(field, text.data(), n);
  std::memset(field + n, 0, size - n);
}

void SetProblem(const Problem& problem, hopper_event* event) {
  CopyText(problem.message, event->message);
  CopyText(problem.detail, event->detail);
  CopyText(problem.hint, event->hint);
}

void EventQueue::Push(const hopper_event& event) { PushIterations(event, event.iteration); }

void EventQueue::PushIterations(const hopper_event& event, int32_t last) {
  bool wakes = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wakes = events_.empty();  // else the reader has not come to the end since it was woken
    events_.push_back({event, last});
  }
  if (wakes) WakeEventFd(event_fd_);
}

void EventQueue::PushLast(const hopper_event& event) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = event;
    has_last_ = true;
  }
  WakeEventFd(event_fd_);
}

bool EventQueue::Pop(hopper_event* event, bool* has_room_again) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *has_room_again = false;
  if (events_.empty()) {
    if (!has_last_) return false;
    *event = last_;
    has_last_ = false;
    return true;
  }
  Entry& first = events_.front();
  *event = first.event;
  if (first.event.iteration++ < first.last_iteration) return true;
  *has_room_again = events_.size() == kMostEvents;
  events_.pop_front();
  return true;
}

bool LibtorchWarnings::IsNew(const std::string& text, Problem* problem) {
  constexpr size_t kMost = 20;
  if (told_.size() >= kMost || !told_.insert(text).second) return false;
  *problem = Problem();
  problem->message = "libtorch: " + text.substr(0, text.find('\n'));
  return true;
}

bool EventQueue::IsFull() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return events_.size() >= kMostEvents;
}

}  // namespace hopper
