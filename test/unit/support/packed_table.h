// Packed tables in memory for tests: synthetic classes that a small network can learn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/philox.h"
#include "capi/structs.h"
#include "data/dataset.h"
#include "model_hopper/data.h"

namespace hopper {

// Rows of `x_elements` uint8 values around one of `classes` patterns, and their class.
class PackedTable {
 public:
  struct Options {
    int64_t rows = 203;
    int32_t partitions = 4;
    int32_t rows_per_buffer = 17;
    std::vector<int64_t> x_shape = {20};
    int32_t classes = 3;
    uint64_t seed = 1;
    int32_t lost_buffers = 0;  // of the last partition, its last ones
  };

  explicit PackedTable(const Options& options) : options_(options) {
    desc_.x_type = HOPPER_UINT8;
    desc_.x_rank = static_cast<int32_t>(options.x_shape.size());
    int64_t elements = 1;
    for (size_t i = 0; i < options.x_shape.size(); ++i) {
      desc_.x_shape[i] = options.x_shape[i];
      elements *= options.x_shape[i];
    }
    desc_.y_kind = HOPPER_LABEL_CLASS;
    desc_.y_type = HOPPER_INT16;
    desc_.num_classes = options.classes;
    desc_.n_partitions = options.partitions;
    desc_.n_rows = options.rows;
    desc_.normalizing_const = 255.0;
    desc_.table_name = "synthetic_packed";
    const Philox random(options.seed, Purpose::kPack, 0, 0);
    for (int32_t p = 0; p < options.partitions; ++p) {
      const RankRange range = PartitionRange(options.rows, options.partitions, p);
      int32_t id = 0;
      for (int64_t first = 0; first < range.count; first += options.rows_per_buffer) {
        const int64_t n = std::min<int64_t>(options.rows_per_buffer, range.count - first);
        AddBuffer(p, id++, range.first + first, n, elements, random);
      }
    }
    buffers_.resize(buffers_.size() - static_cast<size_t>(options.lost_buffers));
    for (size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i].x = x_[i].data();
      buffers_[i].y = y_[i].data();
      buffers_[i].checksum = checksums_[i].bytes.data();
    }
  }
  PackedTable(const PackedTable&) = delete;
  PackedTable& operator=(const PackedTable&) = delete;

  const hopper_data_desc& desc() const { return desc_; }
  const std::vector<hopper_buffer>& buffers() const { return buffers_; }
  std::vector<hopper_buffer> buffers(hopper_split split) const {
    std::vector<hopper_buffer> copy = buffers_;
    for (hopper_buffer& buffer : copy) buffer.split = split;
    return copy;
  }

 private:
  void AddBuffer(int32_t partition, int32_t id, int64_t first, int64_t n, int64_t elements,
                 const Philox& random) {
    std::vector<uint8_t> x(static_cast<size_t>(n * elements));
    std::vector<int16_t> y(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = first + i;
      const auto label = static_cast<int16_t>(random.Bits(static_cast<uint64_t>(row)) %
                                              static_cast<uint32_t>(options_.classes));
      y[static_cast<size_t>(i)] = label;
      for (int64_t e = 0; e < elements; ++e) {
        const uint64_t draw = static_cast<uint64_t>((row + 1) * elements + e) + (1U << 20);
        const double pattern = 128.0 + 80.0 * std::sin(0.7 * (label + 1) * (e + 1));
        const double value = pattern + 90.0 * (random.Uniform(draw) - 0.5);
        x[static_cast<size_t>(i * elements + e)] =
            static_cast<uint8_t>(std::min(255.0, std::max(0.0, value)));
      }
    }
    hopper_buffer buffer = {};
    buffer.partition_id = partition;
    buffer.buffer_id = id;
    buffer.n = static_cast<int32_t>(n);
    buffer.x_size = x.size();
    buffer.y_size = y.size() * sizeof(int16_t);
    checksums_.push_back(
        BufferChecksum(partition, id, buffer.n, x.data(), buffer.x_size, y.data(), buffer.y_size));
    x_.push_back(std::move(x));
    y_.push_back(std::move(y));
    buffers_.push_back(buffer);
  }

  Options options_;
  hopper_data_desc desc_ = {};
  std::vector<std::vector<uint8_t>> x_;
  std::vector<std::vector<int16_t>> y_;
  std::vector<Digest> checksums_;
  std::vector<hopper_buffer> buffers_;
};

// Images of 8 x 8.
inline PackedTable::Options SmallImages(int64_t rows) {
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = rows;
  return options;
}

// What the boundary makes of it.
inline Dataset DatasetOf(const PackedTable& table) {
  Dataset data(FromC(table.desc()));
  for (const hopper_buffer& buffer : table.buffers()) data.AddBuffer(FromC(buffer));
  return data;
}

}  // namespace hopper
