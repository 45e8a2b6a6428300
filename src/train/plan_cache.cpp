#include "train/plan_cache.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace hopper {

namespace {

// A look goes through all of them.
constexpr size_t kMostKept = 32;

thread_local PlanCache* current = nullptr;
std::atomic<int64_t> made_plans{0};

}  // namespace

PlanCache::PlanCache(int64_t bytes) : bytes_(bytes) { current = this; }

PlanCache::~PlanCache() { current = nullptr; }

int64_t PlanCache::made() { return made_plans.load(); }

std::unique_ptr<PlanSet> PlanCache::Take(const PlanKind& kind) {
  const auto at = std::find_if(kept_.rbegin(), kept_.rend(),
                               [&](const auto& plans) { return plans->kind() == kind; });
  if (at == kept_.rend()) return nullptr;
  std::unique_ptr<PlanSet> plans = std::move(*at);
  kept_.erase(std::next(at).base());
  kept_bytes_ -= plans->bytes();
  return plans;
}

void PlanCache::Give(std::unique_ptr<PlanSet> plans) {
  const int64_t bytes = plans->bytes();
  if (bytes > bytes_) return;
  size_t gone = 0;
  while (gone < kept_.size() &&
         (kept_bytes_ + bytes > bytes_ || kept_.size() - gone >= kMostKept)) {
    kept_bytes_ -= kept_[gone++]->bytes();
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(gone));
  kept_.push_back(std::move(plans));
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
