// The order of a partition's examples in a pass, and orders that several models share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace hopper {

// A Philox permutation of (seed, partition, pass), or rank order without shuffling. `pass` counts a
// model's passes over this partition from 0: iteration * epochs + epoch. Empty where `cancel` (may
// be null) is set meanwhile.
std::vector<int32_t> BatchOrder(uint64_t seed, int partition, int64_t pass, int64_t n, bool shuffle,
                                const std::atomic<bool>* cancel = nullptr);

// All configurations of one seed see a pass in one order, which is computed once for those that are
// due. Thread-safe.
class BatchOrders {
 public:
  using Order = std::shared_ptr<const std::vector<int32_t>>;

  // Orders are kept for those who come later, up to so many bytes and those that are in use.
  explicit BatchOrders(int64_t kept_bytes = 0) : kept_bytes_(kept_bytes) {}

  void Keep(int64_t bytes);
  // As BatchOrder(); null where it was cancelled. A thread that asks for what another one is
  // computing waits for it.
  Order Get(uint64_t seed, int partition, int64_t pass, int64_t n, bool shuffle,
            const std::atomic<bool>& cancel);
  int64_t computed() const;  // orders, over all calls

 private:
  using Key = std::tuple<uint64_t, int, int64_t, bool>;
  struct Entry {
    explicit Entry(const Key& its_key) : key(its_key) {}
    const Key key;
    std::mutex computing;
    Order order;        // null: not computed yet; written under both locks
    int64_t bytes = 0;  // of it
    int callers = 0;    // that are in Get() for it
    size_t place = 0;   // in entries_
  };

  std::shared_ptr<Entry> Find(const Key& key);
  void Compute(Entry* entry, int64_t n, const std::atomic<bool>& cancel);
  void TrimLocked();

  mutable std::mutex mutex_;  // guards all that follows
  int64_t kept_bytes_;
  int64_t bytes_ = 0;
  int64_t computed_ = 0;
  uint64_t looks_ = 0;  // of TrimLocked()
  std::map<Key, std::shared_ptr<Entry>> by_key_;
  std::vector<Entry*> entries_;  // the same
};

// What a run of that memory limit keeps of them: what gets lost in the rounding of its estimates.
int64_t KeptOrderBytes(int64_t memory_limit);

}  // namespace hopper
