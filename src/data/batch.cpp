#include "data/batch.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/philox.h"

namespace hopper {

namespace {

// Draws between two looks at `cancel`; their numbers fill the lanes of Philox::Fill() and stay in
// the first cache.
constexpr int64_t kDraws = 512;
// What an order costs beside its numbers, about.
constexpr int64_t kEntryBytes = 256;

}  // namespace

std::vector<int32_t> BatchOrder(uint64_t seed, int partition, int64_t pass, int64_t n, bool shuffle,
                                const std::atomic<bool>* cancel) {
  std::vector<int32_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return order;
  // Fisher and Yates; draw i is a pure function of i.
  const Philox philox(seed, Purpose::kShuffle, static_cast<uint32_t>(partition),
                      static_cast<uint64_t>(pass));
  std::array<uint32_t, 2 * kDraws> bits;
  std::array<size_t, kDraws> others;
  for (int64_t end = n; end > 0;) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return {};
    const int64_t first = (end - 1) / kDraws * kDraws;
    philox.Fill(static_cast<uint64_t>(2 * first), static_cast<uint64_t>(2 * (end - first)),
                bits.data());
    for (int64_t i = end - 1; i >= first; --i) {
      const auto at = static_cast<size_t>(i - first);
      others[at] = static_cast<size_t>(
          Philox::Scale(bits[2 * at], bits[2 * at + 1], static_cast<uint64_t>(i) + 1));
      __builtin_prefetch(&order[others[at]], 1);  // anywhere in memory
    }
    for (int64_t i = end - 1; i >= first; --i) {
      std::swap(order[static_cast<size_t>(i)], order[others[static_cast<size_t>(i - first)]]);
    }
    end = first;
  }
  return order;
}

int64_t KeptOrderBytes(int64_t memory_limit) {
  return std::min(memory_limit / 64, int64_t{256} << 20);
}

void BatchOrders::Keep(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_bytes_ = bytes;
}

int64_t BatchOrders::computed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return computed_;
}

BatchOrders::Order BatchOrders::Get(uint64_t seed, int partition, int64_t pass, int64_t n,
                                    bool shuffle, const std::atomic<bool>& cancel) {
  // Without shuffling all passes have one order.
  const std::shared_ptr<Entry> entry =
      Find(shuffle ? Key{seed, partition, pass, true} : Key{0, partition, 0, false});
  try {
    const std::lock_guard<std::mutex> computing(entry->computing);
    if (entry->order == nullptr) Compute(entry.get(), n, cancel);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --entry->callers;
    throw;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  --entry->callers;
  Order order = entry->order;
  TrimLocked();
  return order;
}

std::shared_ptr<BatchOrders::Entry> BatchOrders::Find(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto at = by_key_.find(key);
  if (at == by_key_.end()) {
    auto entry = std::make_shared<Entry>(key);
    entry->place = entries_.size();
    // Before anything changes; to twice as many, or each new order would copy the whole list.
    if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 16);
    at = by_key_.emplace(key, std::move(entry)).first;
    entries_.push_back(at->second.get());
  }
  ++at->second->callers;
  return at->second;
}

void BatchOrders::Compute(Entry* entry, int64_t n, const std::atomic<bool>& cancel) {
  const auto& [seed, partition, pass, shuffle] = entry->key;
  std::vector<int32_t> order = BatchOrder(seed, partition, pass, n, shuffle, &cancel);
  if (n > 0 && order.empty()) return;
  Order shared = std::make_shared<const std::vector<int32_t>>(std::move(order));
  const std::lock_guard<std::mutex> lock(mutex_);
  entry->order = std::move(shared);
  entry->bytes = n * static_cast<int64_t>(sizeof(int32_t)) + kEntryBytes;
  bytes_ += entry->bytes;
  ++computed_;
}

// Drops orders anywhere: models go round a ring of partitions, and where its orders are too many, a
// rule by age would drop each of them just before it is wanted again.
void BatchOrders::TrimLocked() {
  const Philox random(0, Purpose::kShuffle, 0, 0);
  for (size_t left = entries_.size(); bytes_ > kept_bytes_ && left > 0; --left) {
    Entry* entry = entries_[random.Below(looks_++, entries_.size())];
    if (entry->callers > 0 || entry->order.use_count() > 1) continue;
    bytes_ -= entry->bytes;
    entries_.back()->place = entry->place;
    entries_[entry->place] = entries_.back();
    entries_.pop_back();
    by_key_.erase(Key(entry->key));
  }
}

}  // namespace hopper
