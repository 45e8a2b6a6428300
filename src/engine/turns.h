// Runs of one process that train at the same time: no more of their workers work at once than one
// of them has.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace hopper {

class Turns {
 public:
  explicit Turns(int n) : free_(n) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Wakes those that wait and were cancelled.
  void WakeAll() noexcept;

 private:
  friend class Turn;

  struct Waiting {
    double work = 0.0;
    bool has_turn = false;
    std::condition_variable wake;
    Waiting* next = nullptr;
  };

  bool Take(double work, const std::atomic<bool>& cancel);
  void GiveBack() noexcept;
  void RemoveLocked(const Waiting* waiting);

  std::mutex mutex_;
  int free_;                    // above 0: nobody waits
  Waiting* waiting_ = nullptr;  // on their threads' stacks
};

// A worker's.
class Turn {
 public:
  // A worker keeps it from task to task for so long: to wake another one takes longer than many a
  // task, above all where the machine has other work.
  static constexpr double kSeconds = 0.25;

  explicit Turn(Turns* turns) : turns_(turns) {}
  ~Turn() { End(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Waits for it, unless it goes on or is cancelled. The next one is given to whose model has the
  // most work left, as within a run.
  void Begin(double work, const std::atomic<bool>& cancel) {
    if (has_it_ && watch_.Seconds() > kSeconds) End();
    if (has_it_) return;
    has_it_ = turns_->Take(work, cancel);
    watch_.Restart();
  }
  void End() noexcept {
    if (has_it_) turns_->GiveBack();
    has_it_ = false;
  }

 private:
  Turns* turns_;
  bool has_it_ = false;
  Stopwatch watch_;
};

}  // namespace hopper
