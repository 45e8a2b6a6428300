// Which row belongs where: rank keys, ranges of ranks, checksums of packed buffers.
#include <algorithm>

#include "base/error.h"
#include "data/dataset.h"

namespace hopper {

namespace {

constexpr int64_t kBytesPerPartition = 256LL << 20;
constexpr int64_t kMinPartitions = 4;

}  // namespace

Digest RowKey(uint64_t seed, const void* x, size_t x_size, const void* y, size_t y_size) {
  Hasher hasher(seed);
  hasher.Add(x, x_size);
  hasher.Add(y, y_size);
  return hasher.Finish();
}

int32_t DefaultPartitions(int64_t bytes, int64_t n_rows) {
  const int64_t by_size = bytes <= 0 ? 0 : (bytes - 1) / kBytesPerPartition + 1;
  const int64_t wanted = std::max(kMinPartitions, by_size);
  return static_cast<int32_t>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(n_rows, 1)));
}

RankRange PartitionRange(int64_t n_rows, int32_t n_partitions, int32_t partition) {
  if (n_rows < 0 || n_partitions < 1 || partition < 0 || partition >= n_partitions) {
    throw Error(ErrorCode::kInvalidParameter, "partition " + std::to_string(partition) + " of " +
                                                  std::to_string(n_partitions) + " does not exist");
  }
  // The first `larger` partitions hold one row more than the others.
  const int64_t base = n_rows / n_partitions;
  const int64_t larger = n_rows % n_partitions;
  RankRange range;
  range.first = base * partition + std::min<int64_t>(partition, larger);
  range.count = base + (partition < larger ? 1 : 0);
  return range;
}

Digest BufferChecksum(int32_t partition_id, int32_t buffer_id, int32_t n, const void* x,
                      size_t x_size, const void* y, size_t y_size) {
  // Lengths and place are hashed too, so that a buffer cannot stand in for another one.
  struct {
    int32_t partition_id, buffer_id, n, reserved;
    uint64_t x_size, y_size;
  } const head = {partition_id, buffer_id, n, 0, x_size, y_size};
  Hasher hasher;
  hasher.Add(&head, sizeof(head));
  hasher.Add(x, x_size);
  hasher.Add(y, y_size);
  return hasher.Finish();
}

}  // namespace hopper
