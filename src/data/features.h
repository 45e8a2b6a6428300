// Features: what the frozen part of a model makes of the examples of a partition, kept for all who
// want it again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/hash.h"

namespace hopper {

struct Partition;

// Of one data set. Thread-safe.
class FeatureStore {
 public:
  // Examples with features in the place of what they were made of; null: cancelled.
  using Features = std::shared_ptr<const Partition>;

  // Features are kept up to so many bytes, those that come first: models go round a ring of
  // partitions, so that the ones that were used last are wanted last.
  void Keep(int64_t bytes);
  // Of the partition, by the frozen part of that digest: what is kept, or what `compute` makes.
  // A thread that asks for what another computes, and is to be kept, waits for it.
  Features Get(const Digest& frozen, const Partition& rows, int64_t bytes,
               const std::function<Features()>& compute);
  // The partition's rows go.
  void Forget(const Partition& rows);
  int64_t bytes() const;  // kept

  // How often a partition's were computed, in all stores since the start.
  static int64_t computed();

 private:
  using Key = std::pair<const Partition*, Digest>;
  struct Entry {
    std::mutex computing;  // guards:
    Features features;     // null: not computed yet
    int64_t bytes = 0;
  };

  mutable std::mutex mutex_;  // guards all that follows
  int64_t kept_bytes_ = 0;
  int64_t bytes_ = 0;
  std::map<Key, std::shared_ptr<Entry>> entries_;
};

}  // namespace hopper
