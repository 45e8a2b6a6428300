#include "data/dataset.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/data_desc.h"

namespace hopper {
namespace {

constexpr ValueType kShort = ValueType::kInt16;

DataDesc Desc() {
  DataDesc desc = MakeDesc(kShort, {2, 3}, {LabelKind::kClass, kShort, {}, 4}, 11);
  desc.n_partitions = 3;  // of 4, 4, 3 rows
  desc.table_name = "digits_packed";
  return desc;
}

// A packed buffer that owns its bytes.
struct Packed {
  Packed(int32_t partition, int32_t id, int32_t n, int16_t first) : x(n * 6), y(n) {
    std::iota(x.begin(), x.end(), first);
    for (int i = 0; i < n; ++i) y[i] = static_cast<int16_t>(i % 4);
    buffer.partition_id = partition;
    buffer.buffer_id = id;
    buffer.n = n;
    buffer.x_size = x.size() * sizeof(int16_t);
    buffer.y_size = y.size() * sizeof(int16_t);
    Seal();
  }
  void Seal() {
    checksum = BufferChecksum(buffer.partition_id, buffer.buffer_id, buffer.n, x.data(),
                              buffer.x_size, y.data(), buffer.y_size);
    buffer.x = x.data();
    buffer.y = y.data();
    buffer.checksum = checksum.bytes.data();
  }
  std::vector<int16_t> x;
  std::vector<int16_t> y;
  Digest checksum;
  PackedBuffer buffer;
};

// The error that `body` throws.
Problem Thrown(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.problem();
  }
  return {ErrorCode::kInternal, "nothing was thrown", "", ""};
}

TEST(Dataset, KeepsBuffersInOrder) {
  Dataset data(Desc());
  for (int p = 0; p < 3; ++p) {
    const int16_t first = static_cast<int16_t>(100 * p);
    data.AddBuffer(Packed(p, 0, 2, first).buffer);
    data.AddBuffer(Packed(p, 7, p == 2 ? 1 : 2, static_cast<int16_t>(first + 12)).buffer);
  }
  data.CheckComplete();
  EXPECT_EQ(data.bytes(), 11 * (12 + 2));
  for (int p = 0; p < 3; ++p) {
    const Partition& partition = data.partition(p);
    EXPECT_EQ(partition.n, p == 2 ? 3 : 4);
    EXPECT_EQ(partition.buffer_starts, (std::vector<int64_t>{0, 2}));
    const auto* values = reinterpret_cast<const int16_t*>(partition.x.data());
    for (int64_t i = 0; i < partition.n * 6; ++i) EXPECT_EQ(values[i], 100 * p + i);
  }
}

TEST(Dataset, NoticesAFlippedByteAnywhere) {
  Packed packed(0, 0, 4, 0);
  const auto expect_damaged = [&](uint8_t* byte) {
    for (const int bit : {0, 3, 7}) {
      *byte = static_cast<uint8_t>(*byte ^ (1 << bit));
      Dataset data(Desc());
      const Problem problem = Thrown([&] { data.AddBuffer(packed.buffer); });
      EXPECT_EQ(problem.code, ErrorCode::kCorrupt);
      EXPECT_EQ(problem.message, "buffer 0 of partition 0 of \"digits_packed\" is damaged");
      EXPECT_EQ(data.partition(0).n, 0);
      *byte = static_cast<uint8_t>(*byte ^ (1 << bit));
    }
  };
  for (size_t i = 0; i < packed.buffer.x_size; ++i) {
    expect_damaged(reinterpret_cast<uint8_t*>(packed.x.data()) + i);
  }
  for (size_t i = 0; i < packed.buffer.y_size; ++i) {
    expect_damaged(reinterpret_cast<uint8_t*>(packed.y.data()) + i);
  }
  for (uint8_t& byte : packed.checksum.bytes) expect_damaged(&byte);
  Dataset data(Desc());
  data.AddBuffer(packed.buffer);  // all was put back
}

TEST(Dataset, NoticesABufferInAnothersPlace) {
  Packed packed(0, 0, 4, 0);
  packed.buffer.partition_id = 1;
  Dataset data(Desc());
  EXPECT_EQ(Thrown([&] { data.AddBuffer(packed.buffer); }).code, ErrorCode::kCorrupt);
}

TEST(Dataset, RefusesWrongLengths) {
  const auto detail = [](const std::function<void(PackedBuffer*)>& change) {
    Packed packed(0, 0, 2, 0);
    change(&packed.buffer);
    Dataset data(Desc());
    return Thrown([&] { data.AddBuffer(packed.buffer); }).detail;
  };
  EXPECT_EQ(detail([](PackedBuffer* b) { b->x_size -= 1; }),
            "Its 2 rows of features take 23 bytes instead of 24.");
  EXPECT_EQ(detail([](PackedBuffer* b) { b->y_size += 2; }),
            "Its 2 rows of labels take 6 bytes instead of 4.");
  EXPECT_EQ(detail([](PackedBuffer* b) { b->n = 0; }), "It holds 0 rows.");
  EXPECT_EQ(detail([](PackedBuffer* b) { b->partition_id = 3; }), "The table has 3 partitions.");
  EXPECT_EQ(detail([](PackedBuffer* b) { b->x = nullptr; }), "Its features or labels are missing.");
  EXPECT_EQ(detail([](PackedBuffer* b) { b->checksum = nullptr; }),
            "Its checksum does not have 16 bytes.");
}

TEST(Dataset, RefusesBuffersOutOfOrderOrTooMany) {
  Dataset data(Desc());
  data.AddBuffer(Packed(0, 1, 2, 0).buffer);
  EXPECT_EQ(Thrown([&] { data.AddBuffer(Packed(0, 1, 2, 0).buffer); }).detail,
            "It came after buffer 1.");
  EXPECT_EQ(Thrown([&] { data.AddBuffer(Packed(0, 2, 3, 0).buffer); }).detail,
            "Its partition has 4 rows, and with it there are 5.");
  const Problem problem = Thrown([&] { data.CheckComplete(); });
  EXPECT_EQ(problem.code, ErrorCode::kCorrupt);
  EXPECT_EQ(problem.message, "partition 0 of \"digits_packed\" is not complete");
  EXPECT_EQ(problem.detail, "It holds 2 rows instead of 4.");
}

TEST(Dataset, RefusesClassesThatDoNotExist) {
  for (const int16_t bad : {int16_t{4}, int16_t{-1}}) {
    Packed packed(0, 0, 4, 0);
    packed.y[2] = bad;
    packed.Seal();
    Dataset data(Desc());
    EXPECT_EQ(Thrown([&] { data.AddBuffer(packed.buffer); }).detail,
              "It holds the class index " + std::to_string(bad) + ", but the data has 4 classes.");
  }
}

TEST(DataDesc, LabelsAreFoundByTheOutputsName) {
  std::vector<DataOutput> outputs(2);
  outputs[0].name = "price";
  outputs[1].name = "kind";
  EXPECT_EQ(LabelsOf("price", 2, outputs), 0u);
  EXPECT_EQ(LabelsOf("kind", 2, outputs), 1u);
  EXPECT_EQ(LabelsOf("kind", 1, outputs), 1u);
  EXPECT_EQ(LabelsOf("colour", 2, outputs), std::nullopt);
  outputs.pop_back();
  EXPECT_EQ(LabelsOf("price", 2, outputs), 0u);
  EXPECT_EQ(LabelsOf("colour", 2, outputs), std::nullopt);
  EXPECT_EQ(LabelsOf("colour", 1, outputs), 0u);  // the only ones are the only output's
}

TEST(DataDesc, RefusesNonsense) {
  const auto refused = [](const std::function<void(DataDesc*)>& change) {
    DataDesc desc = Desc();
    change(&desc);
    return Thrown([&] { desc.Check(); }).message;
  };
  EXPECT_EQ(refused([](DataDesc* /*desc*/) {}), "nothing was thrown");
  EXPECT_EQ(refused([](DataDesc* d) {
              SetFeatures(ValueType::kUnknown, {2, 3}, d);
            }),
            "features have the unknown type 0");
  EXPECT_EQ(refused([](DataDesc* d) { SetFeatures(kShort, {}, d); }),
            "features have no dimensions");
  EXPECT_EQ(refused([](DataDesc* d) { d->inputs[0].shape = {7}; }),
            "the inputs of a row are not its features");
  EXPECT_EQ(refused([](DataDesc* d) { d->y_kind = static_cast<LabelKind>(9); }),
            "labels are of the unknown kind 9");
  EXPECT_EQ(refused([](DataDesc* d) { d->y_type = ValueType::kFloat32; }),
            "class indexes are not of an integer type");
  EXPECT_EQ(refused([](DataDesc* d) { d->num_classes = 0; }), "number of classes is 0");
  EXPECT_EQ(refused([](DataDesc* d) { d->n_partitions = 0; }), "number of partitions is 0");
  EXPECT_EQ(refused([](DataDesc* d) { d->n_rows = -1; }), "number of rows is -1");
  // Rows times bytes must not wrap.
  EXPECT_EQ(refused([](DataDesc* d) { d->n_rows = std::numeric_limits<int64_t>::max() / 8; }),
            "number of rows is 1152921504606846975");
  for (const double constant : {0.0, 1e300}) {
    EXPECT_EQ(refused([&](DataDesc* d) { d->normalizing_const = constant; }),
              "normalizing constant is not a finite float32 other than zero");
  }
}

}  // namespace
}  // namespace hopper
