#include "engine/events.h"

#include <utility>

namespace hopper {

void EventQueue::Push(Event event) {
  const int32_t iteration = event.iteration;
  Add(std::move(event), iteration, 1);
}

void EventQueue::PushQuietly(Event event) {
  const int32_t iteration = event.iteration;
  Add(std::move(event), iteration, kManyEvents);
}

void EventQueue::PushIterations(Event event, int32_t last) {
  Add(std::move(event), last, kManyEvents);
}

void EventQueue::Add(Event event, int32_t last, size_t wakes_from) {
  bool wakes = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back({std::move(event), last});
    wakes = !woken_ && events_.size() >= wakes_from;
    woken_ = woken_ || wakes;
  }
  if (wakes) WakeEventFd(event_fd_);
}

void EventQueue::PushLast(Event event) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = std::move(event);
    has_last_ = true;
  }
  WakeEventFd(event_fd_);
}

bool EventQueue::Pop(Event* event, bool* has_room_again) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *has_room_again = false;
  if (events_.empty()) {
    woken_ = false;
    if (!has_last_) return false;
    *event = std::move(last_);
    has_last_ = false;
    return true;
  }
  Entry& first = events_.front();
  if (first.event.iteration < first.last_iteration) {
    *event = first.event;
    ++first.event.iteration;
    return true;
  }
  *event = std::move(first.event);
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
