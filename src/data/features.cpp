#include "data/features.h"

#include <atomic>

#include "data/dataset.h"

namespace hopper {

namespace {

std::atomic<int64_t> computed_features{0};

FeatureStore::Features Compute(const std::function<FeatureStore::Features()>& compute) {
  computed_features.fetch_add(1, std::memory_order_relaxed);
  return compute();
}

}  // namespace

int64_t FeatureStore::computed() { return computed_features.load(); }

void FeatureStore::Keep(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_bytes_ = bytes;
}

int64_t FeatureStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

FeatureStore::Features FeatureStore::Get(const Digest& frozen, const Partition& rows, int64_t bytes,
                                         const std::function<Features()>& compute) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = entries_.find({&rows, frozen});
    if (at != entries_.end()) {
      entry = at->second;
    } else if (bytes <= kept_bytes_ - bytes_) {
      entry = std::make_shared<Entry>();
      entry->bytes = bytes;
      entries_.emplace(Key{&rows, frozen}, entry);
      bytes_ += bytes;
    }
  }
  if (entry == nullptr) return Compute(compute);
  const std::lock_guard<std::mutex> computing(entry->computing);
  if (entry->features == nullptr) entry->features = Compute(compute);
  return entry->features;
}

void FeatureStore::Forget(const Partition& rows) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto at = entries_.lower_bound({&rows, Digest()});
       at != entries_.end() && at->first.first == &rows;) {
    bytes_ -= at->second->bytes;
    at = entries_.erase(at);
  }
}

}  // namespace hopper
