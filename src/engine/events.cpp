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

void SetProblem(const Problem& problem, hopper_event* event) {
  CopyText(problem.message, event->message);
  CopyText(problem.detail, event->detail);
  CopyText(problem.hint, event->hint);
}

EventQueue::Entry::Entry(const hopper_event& event, int32_t last)
    : iteration(event.iteration), last_iteration(last) {
  std::memcpy(numbers.data(), &event, numbers.size());
  if (event.message[0] != '\0' || event.detail[0] != '\0' || event.hint[0] != '\0') {
    whole = std::make_unique<const hopper_event>(event);
  }
}

hopper_event EventQueue::Entry::event() const {
  hopper_event event = {};
  if (whole != nullptr) {
    event = *whole;
  } else {
    std::memcpy(&event, numbers.data(), numbers.size());
  }
  event.iteration = iteration;
  return event;
}

void EventQueue::Push(const hopper_event& event) { Add(event, event.iteration, 1); }

void EventQueue::PushQuietly(const hopper_event& event) {
  Add(event, event.iteration, kManyEvents);
}

void EventQueue::PushIterations(const hopper_event& event, int32_t last) {
  Add(event, last, kManyEvents);
}

void EventQueue::Add(const hopper_event& event, int32_t last, size_t wakes_from) {
  bool wakes = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.emplace_back(event, last);
    wakes = !woken_ && events_.size() >= wakes_from;
    woken_ = woken_ || wakes;
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
    woken_ = false;
    if (!has_last_) return false;
    *event = last_;
    has_last_ = false;
    return true;
  }
  Entry& first = events_.front();
  *event = first.event();
  if (first.iteration++ < first.last_iteration) return true;
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
