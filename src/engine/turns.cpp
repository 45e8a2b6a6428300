#include "engine/turns.h"

namespace hopper {

bool Turns::Take(double work, const std::atomic<bool>& cancel) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (free_ > 0) {
    --free_;
    return true;
  }
  Waiting waiting;
  waiting.work = work;
  waiting.next = waiting_;
  waiting_ = &waiting;
  waiting.wake.wait(lock, [&] { return waiting.has_turn || cancel.load(); });
  if (!waiting.has_turn) RemoveLocked(&waiting);
  return waiting.has_turn;
}

void Turns::GiveBack() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_ == nullptr) {
    ++free_;
    return;
  }
  Waiting* best = waiting_;
  for (Waiting* other = best->next; other != nullptr; other = other->next) {
    if (other->work > best->work) best = other;
  }
  RemoveLocked(best);
  best->has_turn = true;
  best->wake.notify_one();
}

void Turns::RemoveLocked(const Waiting* waiting) {
  Waiting** link = &waiting_;
  while (*link != waiting) link = &(*link)->next;
  *link = waiting->next;
}

void Turns::WakeAll() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Waiting* waiting = waiting_; waiting != nullptr; waiting = waiting->next) {
    waiting->wake.notify_one();
  }
}

}  // namespace hopper
