// Time that never runs backwards, for durations and deadlines.
#pragma once

#include <chrono>
#include <utility>

namespace hopper {

// Seconds since an arbitrary fixed moment.
inline double MonotonicSeconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  double Seconds() const { return MonotonicSeconds() - start_; }
  void Restart() { start_ = MonotonicSeconds(); }
  // Since the last lap, or the start; the next lap begins.
  double Lap() {
    const double now = MonotonicSeconds();
    return now - std::exchange(start_, now);
  }

 private:
  double start_ = MonotonicSeconds();
};

}  // namespace hopper
