// Packed data in memory: partitions of examples in their own type, and the batches taken from
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/hash.h"
#include "data/batch.h"
#include "data/features.h"
#include "data/inputs.h"
#include "data/outputs.h"
#include "data/types.h"

namespace hopper {

// Rank key of a row, a hash of its packed features and labels under the seed: rows are ordered by
// it, and then by these bytes.
Digest RowKey(uint64_t seed, const void* x, size_t x_size, const void* y, size_t y_size);
int32_t DefaultPartitions(int64_t bytes, int64_t n_rows);

struct RankRange {
  int64_t first = 0;
  int64_t count = 0;
};
RankRange PartitionRange(int64_t n_rows, int32_t n_partitions, int32_t partition);

Digest BufferChecksum(int32_t partition_id, int32_t buffer_id, int32_t n, const void* x,
                      size_t x_size, const void* y, size_t y_size);

// Packed data and one example of them.
struct DataDesc {
  ValueType x_type = ValueType::kUnknown;  // so of several inputs
  std::vector<int64_t> x_shape;            // of several inputs: how many values they have
  std::vector<DataInput> inputs;           // at least one
  LabelKind y_kind = LabelKind::kValue;
  ValueType y_type = ValueType::kUnknown;
  std::vector<int64_t> y_shape;
  int32_t num_classes = 0;
  std::vector<DataOutput> outputs;  // at least one
  bool by_parts = false;            // labels are theirs one behind the other, classes as numbers
  bool weighted = false;            // then: the last label of an example is its weight
  int32_t n_partitions = 0;
  int64_t n_rows = 0;
  int64_t buffer_rows = 0;  // of the largest buffer
  double normalizing_const = 1.0;
  std::string table_name;  // for messages; the label's column is its output's
  std::string x_column;
  std::optional<bool> validation;  // for checks: whether there is a validation table beside it
  // For checks: why a model, Keras' JSON, does not take the columns that were packed, where it can
  // be read; empty: they have no treatments.
  std::function<std::optional<Problem>(std::string_view)> misfit;

  // Throws Error where these are no data that a model could be trained on or applied to.
  void Check() const;

  int64_t x_elements() const;  // of one example
  int64_t y_elements() const;  // 1 for a class or a single value
  size_t x_bytes() const;
  size_t y_bytes() const;
  // What the server takes while it reads a buffer: a copy of it, and as much again that lies
  // compressed, or that its allocator keeps of the last one.
  int64_t ReadingBytes() const;
  // What a partition takes in memory.
  int64_t PartitionBytes(int p) const;
};

// The examples of one partition in rank order, contiguous.
struct Partition {
  int64_t n = 0;
  AlignedArray<uint8_t> x;
  AlignedArray<uint8_t> y;
  // First example of each packed buffer, ascending: metrics are summed per buffer.
  std::vector<int64_t> buffer_starts;
  // Where the orders of its passes are shared; null: each visit makes its own.
  BatchOrders* orders = nullptr;
  // Where features that frozen parts of models make of its examples are shared.
  FeatureStore* features = nullptr;
};

// A buffer of a packed table as it is stored; the bytes are the caller's.
struct PackedBuffer {
  int32_t split = 0;
  int32_t partition_id = 0;
  int32_t buffer_id = 0;  // ascending within a partition
  int32_t n = 0;          // examples
  const void* x = nullptr;
  size_t x_size = 0;
  const void* y = nullptr;
  size_t y_size = 0;
  const uint8_t* checksum = nullptr;  // null: it has not the length of one
};

// Filled by one thread, then read-only and shared by all workers; a partition at a time where
// AddBuffer(), EndPartition() and Drop() come one after another and nobody reads that partition.
class Dataset {
 public:
  // `desc` was checked.
  explicit Dataset(DataDesc desc);

  // Copies a buffer to the end of its partition. Throws kCorrupt where the checksum or a length
  // is wrong, or where buffers arrive out of order or overfill their partition.
  void AddBuffer(const PackedBuffer& buffer);
  // Whether the partition has all its rows.
  bool IsComplete(int p) const;
  // Throws kCorrupt where one of these partitions, or any, lacks rows.
  void CheckComplete(const std::vector<int32_t>& partitions) const;
  void CheckComplete() const;
  // After the last buffer of a partition. Throws kCorrupt where it lacks rows, and kNotReady where
  // it was read before and its buffers were others then.
  void EndPartition(int p);
  // Frees a partition, to be read again.
  void Drop(int p);

  const DataDesc& desc() const { return desc_; }
  const Partition& partition(int p) const { return partitions_[p]; }
  int n_partitions() const { return static_cast<int>(partitions_.size()); }
  int64_t bytes() const { return bytes_; }  // of the partitions that are there
  int64_t PartitionBytes(int p) const;      // there or not
  std::vector<int64_t> AllPartitionBytes() const;
  BatchOrders& orders() const { return *orders_; }
  FeatureStore& features() const { return *features_; }

 private:
  void CheckComplete(int p) const;
  void Share(Partition* partition) const;

  DataDesc desc_;
  std::unique_ptr<BatchOrders> orders_ = std::make_unique<BatchOrders>();
  std::unique_ptr<FeatureStore> features_ = std::make_unique<FeatureStore>();
  std::vector<Partition> partitions_;
  std::vector<int32_t> last_buffer_;
  // By partition, the checksums of its buffers one behind the other: now, and when first read.
  std::vector<std::vector<uint8_t>> checksums_;
  std::vector<std::vector<uint8_t>> first_checksums_;
  int64_t bytes_ = 0;
};

// Features of the examples rows[0..n) as float32 divided by the normalizing constant, into
// `out` (n * x_elements floats).
void GatherFeatures(const DataDesc& desc, const Partition& partition, const int32_t* rows,
                    int64_t n, float* out);
// Features of the contiguous raw bytes of prediction.
void ConvertFeatures(const DataDesc& desc, const void* x, int64_t n, float* out);
// Class indexes (LabelKind::kClass).
void GatherClasses(const DataDesc& desc, const Partition& partition, const int32_t* rows, int64_t n,
                   int64_t* out);
// Values (LabelKind::kValue, kArray) as float32, n * y_elements.
void GatherValues(const DataDesc& desc, const Partition& partition, const int32_t* rows, int64_t n,
                  float* out);

}  // namespace hopper
