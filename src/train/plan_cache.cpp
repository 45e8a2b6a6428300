#include "train/plan_cache.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace hopper {

namespace {

thread_local PlanCache* current = nullptr;
std::atomic<int64_t> made_plans{0};

}  // namespace

PlanCacheScope::PlanCacheScope(PlanCache* cache) { current = cache; }

PlanCacheScope::~PlanCacheScope() { current = nullptr; }

int64_t PlanCache::made() { return made_plans.load(); }

void PlanCache::Bound(int64_t bytes) {
  bytes_ = bytes;
  MakeRoom(0);
}

void PlanCache::MakeRoom(int64_t bytes) {
  while (!kept_.empty() && kept_bytes_ + bytes > bytes_) {
    const auto oldest = kept_.begin();
    const auto same = by_kind_.equal_range(&(*oldest)->kind());
    by_kind_.erase(std::find_if(same.first, same.second,
                                [&](const auto& entry) { return entry.second == oldest; }));
    kept_bytes_ -= (*oldest)->bytes();
    kept_.erase(oldest);
  }
}

std::unique_ptr<PlanSet> PlanCache::Take(const PlanKind& kind) {
  const auto found = by_kind_.find(&kind);
  if (found == by_kind_.end()) return nullptr;
  const auto at = found->second;
  by_kind_.erase(found);
  std::unique_ptr<PlanSet> plans = std::move(*at);
  kept_.erase(at);
  kept_bytes_ -= plans->bytes();
  return plans;
}

void PlanCache::Give(std::unique_ptr<PlanSet> plans) {
  const int64_t bytes = plans->bytes();
  if (bytes > bytes_) return;
  MakeRoom(bytes);
  Kept one;
  one.push_back(std::move(plans));
  by_kind_.emplace(&one.front()->kind(), one.begin());
  kept_.splice(kept_.end(), one);
  kept_bytes_ += bytes;
}

PlanLease::PlanLease(PlanKind kind) {
  if (current != nullptr) plans_ = current->Take(kind);
  if (plans_ != nullptr) return;
  if (current != nullptr) made_plans.fetch_add(1, std::memory_order_relaxed);
  plans_ = std::make_unique<PlanSet>(std::move(kind));
}

PlanLease::~PlanLease() {
  if (current == nullptr) return;
  try {
    current->Give(std::move(plans_));
  } catch (...) {  // without memory nothing is kept
  }
}

}  // namespace hopper
