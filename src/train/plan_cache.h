// Plans that a thread keeps from one visit or evaluation to the next. To plan a small model takes
// longer than a step of it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "train/plan_set.h"

namespace hopper {

// While it lives, this thread keeps the plans that it used last, up to so many bytes of them. One a
// thread; ends before the thread's team does.
class PlanCache {
 public:
  explicit PlanCache(int64_t bytes);
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // Of all threads that had a cache, since the start: how often plans were made and not found.
  static int64_t made();

 private:
  friend class PlanLease;
  std::unique_ptr<PlanSet> Take(const PlanKind& kind);
  void Give(std::unique_ptr<PlanSet> plans);

  const int64_t bytes_;
  int64_t kept_bytes_ = 0;
  std::vector<std::unique_ptr<PlanSet>> kept_;  // the latest last
};

// Plans from the thread's cache, or new ones, until it goes.
class PlanLease {
 public:
  explicit PlanLease(PlanKind kind);
  ~PlanLease();
  PlanLease(const PlanLease&) = delete;
  PlanLease& operator=(const PlanLease&) = delete;
  PlanSet* operator->() const { return plans_.get(); }

 private:
  std::unique_ptr<PlanSet> plans_;
};

}  // namespace hopper
