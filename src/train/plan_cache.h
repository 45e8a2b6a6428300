// Plans that a thread keeps from one visit or evaluation to the next. To plan a small model takes
// longer than a step of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "train/plan_set.h"

namespace hopper {

// The plans that were used last, up to so many bytes of them. Used by one thread at a time; plans
// know the thread's team, so that where it has one they end before it does.
class PlanCache {
 public:
  explicit PlanCache(int64_t bytes) : bytes_(bytes) {}

  // What it keeps from now on.
  void Bound(int64_t bytes);
  void Clear() { Bound(0); }
  // Of all threads that had a cache, since the start: how often plans were made and not found.
  static int64_t made();

 private:
  friend class PlanLease;
  using Kept = std::list<std::unique_ptr<PlanSet>>;
  struct Hash {
    size_t operator()(const PlanKind* kind) const { return HashOf(*kind); }
  };
  struct Equal {
    bool operator()(const PlanKind* a, const PlanKind* b) const { return *a == *b; }
  };
  std::unique_ptr<PlanSet> Take(const PlanKind& kind);
  void Give(std::unique_ptr<PlanSet> plans);
  // Forgets those that were not used for longest, until there is room for so many bytes.
  void MakeRoom(int64_t bytes);

  int64_t bytes_;
  int64_t kept_bytes_ = 0;
  Kept kept_;  // the latest last
  // By their own kinds.
  std::unordered_multimap<const PlanKind*, Kept::iterator, Hash, Equal> by_kind_;
};

// While it lives, this thread takes its plans from the cache and gives them back. One a thread.
class PlanCacheScope {
 public:
  explicit PlanCacheScope(PlanCache* cache);
  ~PlanCacheScope();
  PlanCacheScope(const PlanCacheScope&) = delete;
  PlanCacheScope& operator=(const PlanCacheScope&) = delete;
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
