// What forecasts share.
#pragma once

#include <atomic>
#include <cstdint>

namespace hopper {

// Whether a forecast is to end early; looks now and then.
class ForecastCancel {
 public:
  explicit ForecastCancel(const std::atomic<bool>* flag) : flag_(flag) {}
  bool operator()() {
    if (flag_ == nullptr || ++calls_ % kBetweenLooks != 0) return seen_;
    return seen_ = flag_->load(std::memory_order_relaxed);
  }

 private:
  static constexpr int kBetweenLooks = 1024;  // in tasks

  const std::atomic<bool>* const flag_;
  int64_t calls_ = 0;
  bool seen_ = flag_ != nullptr && flag_->load(std::memory_order_relaxed);
};

}  // namespace hopper
