// Partitions in memory, filled buffer by buffer.
#include "data/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/product.h"

namespace hopper {

namespace {

template <typename T>
int64_t FirstOutside(const uint8_t* values, int64_t n, int64_t bound, int64_t* found) {
  for (int64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, values + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    const auto wide = static_cast<int64_t>(value);
    if (wide < 0 || wide >= bound) {
      *found = wide;
      return i;
    }
  }
  return -1;
}

// Index of the first class index that is not in [0, bound), or -1.
int64_t FirstBadClass(ValueType type, const uint8_t* values, int64_t n, int64_t bound,
                      int64_t* found) {
  switch (type) {
    case ValueType::kUint8:
      return FirstOutside<uint8_t>(values, n, bound, found);
    case ValueType::kInt16:
      return FirstOutside<int16_t>(values, n, bound, found);
    case ValueType::kInt32:
      return FirstOutside<int32_t>(values, n, bound, found);
    default:
      return FirstOutside<int64_t>(values, n, bound, found);
  }
}

// Some memory goes to each, whether it has rows or not.
constexpr int32_t kMostPartitions = 10'000'000;

template <typename Enum>
std::string NumberOf(Enum value) {
  return std::to_string(static_cast<int32_t>(value));
}

constexpr const char* kRepack = "Pack the data again with hopper.training_preprocessor().";

}  // namespace

std::vector<std::string> DataOutput::ClassNames() const {
  std::vector<std::string> names;
  for (const std::optional<std::string>& value : class_values) {
    if (value.has_value()) names.push_back(*value);
  }
  return names;
}

std::optional<size_t> LabelsOf(const std::string& output, size_t n_model_outputs,
                               const std::vector<DataOutput>& outputs) {
  if (n_model_outputs == 1 && outputs.size() == 1) return 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name == output) return i;
  }
  return std::nullopt;
}

namespace {

// What is wrong with one of the rows of labels; empty: nothing.
std::string WrongParts(const DataDesc& desc, const uint8_t* y, int64_t n) {
  const int64_t width = desc.y_elements();
  std::vector<float> row(static_cast<size_t>(width));
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(row.data(), y + i * width * static_cast<int64_t>(sizeof(float)),
                static_cast<size_t>(width) * sizeof(float));
    for (const DataOutput& output : desc.outputs) {
      if (output.kind != LabelKind::kClass) continue;
      const float index = row[static_cast<size_t>(output.first)];
      if (index >= 0.0F && index < static_cast<float>(output.num_classes) &&
          index == std::floor(index)) {
        continue;
      }
      return "It holds the class index " + std::to_string(index) + " for output \"" + output.name +
             "\" of " + std::to_string(output.num_classes) + " classes.";
    }
    if (!desc.weighted) continue;
    const float weight = row.back();
    if (!(weight >= 0.0F && std::isfinite(weight))) {
      return "It holds the weight " + std::to_string(weight) + ".";
    }
  }
  return "";
}

}  // namespace

void DataDesc::Check() const {
  const auto fail = [&](const std::string& message) {
    throw Error(ErrorCode::kInvalidParameter, message, "", kRepack);
  };
  int64_t values = 0;
  for (const DataInput& input : inputs) {
    if (TypeSize(input.type) == 0) {
      fail("features have the unknown type " + NumberOf(input.type));
    }
    if (input.shape.empty()) fail("features have no dimensions");
    values += ProductOf(input.shape);
  }
  if (values != x_elements() || (inputs.size() > 1 && x_type != ValueType::kUnknown)) {
    fail("the inputs of a row are not its features");
  }
  if (TypeSize(y_type) == 0) fail("labels have the unknown type " + NumberOf(y_type));
  if (y_kind < LabelKind::kClass || y_kind > LabelKind::kArray) {
    fail("labels are of the unknown kind " + NumberOf(y_kind));
  }
  if (y_kind != LabelKind::kArray && !y_shape.empty()) {
    fail("labels of one value a row have " + std::to_string(y_shape.size()) + " dimensions");
  }
  if (y_kind == LabelKind::kClass) {
    if (IsFloat(y_type)) fail("class indexes are not of an integer type");
    if (num_classes < 1) fail("number of classes is " + std::to_string(num_classes));
  }
  if (n_partitions < 1) fail("number of partitions is " + std::to_string(n_partitions));
  if (n_partitions > kMostPartitions) {
    fail("number of partitions is " + std::to_string(n_partitions) + ", more than " +
         std::to_string(kMostPartitions));
  }
  if (n_rows < 0) fail("number of rows is " + std::to_string(n_rows));
  if (!std::isfinite(normalizing_const) || static_cast<float>(normalizing_const) == 0.0F ||
      !std::isfinite(static_cast<float>(normalizing_const))) {
    fail("normalizing constant is not a finite float32 other than zero");
  }
  if (n_rows > std::numeric_limits<int64_t>::max() / static_cast<int64_t>(x_bytes() + y_bytes())) {
    fail("number of rows is " + std::to_string(n_rows));
  }
}

int64_t DataDesc::x_elements() const { return ProductOf(x_shape); }

int64_t DataDesc::y_elements() const { return ProductOf(y_shape); }

size_t DataDesc::x_bytes() const {
  size_t bytes = 0;
  for (const DataInput& input : inputs) {
    bytes +=
        static_cast<size_t>(ProductOf(input.shape)) * static_cast<size_t>(TypeSize(input.type));
  }
  return bytes;
}

size_t DataDesc::y_bytes() const { return static_cast<size_t>(y_elements()) * TypeSize(y_type); }

Dataset::Dataset(DataDesc desc)
    : desc_(std::move(desc)),
      partitions_(static_cast<size_t>(desc_.n_partitions)),
      last_buffer_(partitions_.size(), std::numeric_limits<int32_t>::min()),
      checksums_(partitions_.size()),
      first_checksums_(partitions_.size()) {
  if (PartitionRange(desc_.n_rows, desc_.n_partitions, 0).count >
      std::numeric_limits<int32_t>::max()) {
    throw Error(ErrorCode::kLimitExceeded,
                "a partition of \"" + desc_.table_name + "\" has more than 2147483647 rows", "",
                "Pack the data into more partitions.");
  }
  // All sizes below are products of at most these.
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  const auto row = static_cast<int64_t>(desc_.x_bytes() + desc_.y_bytes());
  if (Product({desc_.n_rows, row}) > kMostBytes) {
    throw Error(
        ErrorCode::kLimitExceeded, "\"" + desc_.table_name + "\" is too large",
        "It has " + std::to_string(desc_.n_rows) + " rows of " + std::to_string(row) + " bytes.",
        kRepack);
  }
  for (Partition& partition : partitions_) Share(&partition);
}

void Dataset::AddBuffer(const PackedBuffer& buffer) {
  const std::string name = "buffer " + std::to_string(buffer.buffer_id) + " of partition " +
                           std::to_string(buffer.partition_id) + " of \"" + desc_.table_name + "\"";
  const auto damaged = [&](const std::string& detail) {
    throw Error(ErrorCode::kCorrupt, name + " is damaged", detail, kRepack);
  };
  if (buffer.partition_id < 0 || buffer.partition_id >= n_partitions()) {
    damaged("The table has " + std::to_string(n_partitions()) + " partitions.");
  }
  if (buffer.n < 1) damaged("It holds " + std::to_string(buffer.n) + " rows.");
  const int64_t count = PartitionRange(desc_.n_rows, desc_.n_partitions, buffer.partition_id).count;
  Partition& partition = partitions_[static_cast<size_t>(buffer.partition_id)];
  if (partition.n + buffer.n > count) {
    damaged("Its partition has " + std::to_string(count) + " rows, and with it there are " +
            std::to_string(partition.n + buffer.n) + ".");
  }
  const auto n = static_cast<size_t>(buffer.n);
  if (buffer.x == nullptr || buffer.y == nullptr) damaged("Its features or labels are missing.");
  if (buffer.checksum == nullptr) damaged("Its checksum does not have 16 bytes.");
  if (buffer.x_size != n * desc_.x_bytes()) {
    damaged("Its " + std::to_string(n) + " rows of features take " + std::to_string(buffer.x_size) +
            " bytes instead of " + std::to_string(n * desc_.x_bytes()) + ".");
  }
  if (buffer.y_size != n * desc_.y_bytes()) {
    damaged("Its " + std::to_string(n) + " rows of labels take " + std::to_string(buffer.y_size) +
            " bytes instead of " + std::to_string(n * desc_.y_bytes()) + ".");
  }
  const Digest checksum = BufferChecksum(buffer.partition_id, buffer.buffer_id, buffer.n, buffer.x,
                                         buffer.x_size, buffer.y, buffer.y_size);
  if (std::memcmp(checksum.bytes.data(), buffer.checksum, checksum.bytes.size()) != 0) {
    damaged("Its checksum does not match its contents.");
  }
  const auto* y = static_cast<const uint8_t*>(buffer.y);
  if (desc_.y_kind == LabelKind::kClass) {
    int64_t found = 0;
    if (FirstBadClass(desc_.y_type, y, buffer.n, desc_.num_classes, &found) >= 0) {
      damaged("It holds the class index " + std::to_string(found) + ", but the data has " +
              std::to_string(desc_.num_classes) + " classes.");
    }
  }
  if (desc_.by_parts) {
    const std::string wrong = WrongParts(desc_, y, buffer.n);
    if (!wrong.empty()) damaged(wrong);
  }

  int32_t& last = last_buffer_[static_cast<size_t>(buffer.partition_id)];
  if (buffer.buffer_id <= last) damaged("It came after buffer " + std::to_string(last) + ".");
  if (partition.n == 0) {
    partition.x = AlignedArray<uint8_t>(static_cast<size_t>(count) * desc_.x_bytes());
    partition.y = AlignedArray<uint8_t>(static_cast<size_t>(count) * desc_.y_bytes());
    bytes_ += static_cast<int64_t>(partition.x.size() + partition.y.size());
  }
  const auto at = static_cast<size_t>(partition.n);
  std::memcpy(partition.x.data() + at * desc_.x_bytes(), buffer.x, buffer.x_size);
  std::memcpy(partition.y.data() + at * desc_.y_bytes(), buffer.y, buffer.y_size);
  partition.buffer_starts.push_back(partition.n);
  partition.n += buffer.n;
  last = buffer.buffer_id;
  std::vector<uint8_t>& checksums = checksums_[static_cast<size_t>(buffer.partition_id)];
  checksums.insert(checksums.end(), checksum.bytes.begin(), checksum.bytes.end());
}

bool Dataset::IsComplete(int p) const {
  return partition(p).n == PartitionRange(desc_.n_rows, desc_.n_partitions, p).count;
}

void Dataset::CheckComplete(int p) const {
  if (IsComplete(p)) return;
  const int64_t count = PartitionRange(desc_.n_rows, desc_.n_partitions, p).count;
  throw Error(ErrorCode::kCorrupt,
              "partition " + std::to_string(p) + " of \"" + desc_.table_name + "\" is not complete",
              "It holds " + std::to_string(partition(p).n) + " rows instead of " +
                  std::to_string(count) + ".",
              kRepack);
}

void Dataset::CheckComplete() const {
  for (int p = 0; p < n_partitions(); ++p) CheckComplete(p);
}

void Dataset::CheckComplete(const std::vector<int32_t>& partitions) const {
  for (const int32_t p : partitions) CheckComplete(p);
}

void Dataset::EndPartition(int p) {
  const auto at = static_cast<size_t>(p);
  CheckComplete(p);
  if (first_checksums_[at].empty()) {
    first_checksums_[at] = checksums_[at];
  } else if (first_checksums_[at] != checksums_[at]) {
    throw Error(
        ErrorCode::kNotReady,
        "table \"" + desc_.table_name + "\" has changed since it was first read",
        "Other rows lie in its partition " + std::to_string(p) + ".",
        "Start again; while data above hopper.memory_limit are trained on, nobody may write "
        "to their table.");
  }
}

void Dataset::Share(Partition* partition) const {
  partition->orders = orders_.get();
  partition->features = features_.get();
}

void Dataset::Drop(int p) {
  const auto at = static_cast<size_t>(p);
  Partition& partition = partitions_[at];
  bytes_ -= static_cast<int64_t>(partition.x.size() + partition.y.size());
  features_->Forget(partition);
  partition = Partition();
  Share(&partition);
  last_buffer_[at] = std::numeric_limits<int32_t>::min();
  checksums_[at].clear();
}

int64_t Dataset::PartitionBytes(int p) const { return desc_.PartitionBytes(p); }

std::vector<int64_t> Dataset::AllPartitionBytes() const {
  std::vector<int64_t> bytes;
  for (int p = 0; p < n_partitions(); ++p) bytes.push_back(PartitionBytes(p));
  return bytes;
}

int64_t DataDesc::PartitionBytes(int p) const {
  return PartitionRange(n_rows, n_partitions, p).count *
         static_cast<int64_t>(x_bytes() + y_bytes());
}

int64_t DataDesc::ReadingBytes() const {
  if (n_partitions == 0) return 0;
  const int64_t most = std::min(PartitionRange(n_rows, n_partitions, 0).count, buffer_rows);
  return 2 * most * static_cast<int64_t>(x_bytes() + y_bytes());
}

}  // namespace hopper
