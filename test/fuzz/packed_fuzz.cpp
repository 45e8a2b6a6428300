// A packed table's summary and buffers, with right and wrong checksums, and the batches of them.
#include <utility>
#include <vector>

#include "base/product.h"
#include "capi/structs.h"
#include "data/dataset.h"
#include "fuzz.h"

using namespace hopper;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput in(data, size);
  hopper_data_desc desc = {};
  desc.x_type = in.Get<uint8_t>() % 8;
  desc.x_rank = in.Get<int8_t>();
  for (int64_t& axis : desc.x_shape) axis = in.Get<int16_t>();
  desc.y_kind = in.Get<uint8_t>() % 5;
  desc.y_type = in.Get<uint8_t>() % 8;
  desc.y_rank = in.Get<int8_t>();
  for (int64_t& axis : desc.y_shape) axis = in.Get<int8_t>();
  const auto huge = in.Get<uint8_t>();  // an axis that no value of 16 bits has
  if (huge < HOPPER_MAX_RANK) desc.x_shape[huge] = in.Get<int64_t>();
  desc.num_classes = in.Get<int32_t>();
  desc.n_partitions = in.Get<int16_t>();
  desc.n_rows = huge % 2 == 0 ? in.Get<uint16_t>() : in.Get<int64_t>();
  desc.normalizing_const = in.Get<float>();
  desc.table_name = "t";
  Try([&] {
    DataDesc made = FromC(desc);
    made.Check();
    Dataset dataset(std::move(made));
    for (int count = 0; count < 8 && in.Left() > 0; ++count) {
      hopper_buffer buffer = {};
      buffer.partition_id = in.Get<int8_t>();
      buffer.buffer_id = in.Get<int8_t>();
      buffer.n = huge % 4 == 1 ? in.Get<int32_t>() : in.Get<int8_t>();
      const bool lengths = in.Get<uint8_t>() != 0;  // of its own, or what the rows take
      const int64_t n = buffer.n < 0 ? 0 : buffer.n;
      const double x = static_cast<double>(n) * static_cast<double>(dataset.desc().x_bytes());
      const double y = static_cast<double>(n) * static_cast<double>(dataset.desc().y_bytes());
      buffer.x_size = lengths || x > 1e6 ? in.Get<uint16_t>() : static_cast<size_t>(x);
      buffer.y_size = lengths || y > 1e6 ? in.Get<uint16_t>() : static_cast<size_t>(y);
      // Copies, so that a read behind their ends is seen.
      std::vector<uint8_t> xs(buffer.x_size), ys(buffer.y_size);
      for (uint8_t& byte : xs) byte = in.Get<uint8_t>();
      for (uint8_t& byte : ys) byte = in.Get<uint8_t>();
      buffer.x = xs.data();
      buffer.y = ys.data();
      const Digest checksum = BufferChecksum(buffer.partition_id, buffer.buffer_id, buffer.n,
                                             buffer.x, buffer.x_size, buffer.y, buffer.y_size);
      buffer.checksum = checksum.bytes.data();
      Expect(Product({dataset.desc().n_rows, static_cast<int64_t>(dataset.desc().x_bytes())}) <
                 INT64_MAX,
             "sizes that do not wrap");
      if (dataset.PartitionBytes(0) > 1 << 24) return;  // no memory for it here
      dataset.AddBuffer(FromC(buffer));
    }
    for (int p = 0; p < dataset.n_partitions() && p < 4; ++p) {
      const Partition& partition = dataset.partition(p);
      if (partition.n == 0 || partition.n * dataset.desc().x_elements() > 1 << 20) continue;
      const std::vector<int32_t> order = BatchOrder(1, p, 0, partition.n, true);
      std::vector<float> features(static_cast<size_t>(partition.n * dataset.desc().x_elements()));
      GatherFeatures(dataset.desc(), partition, order.data(), partition.n, features.data());
      if (dataset.desc().y_kind == LabelKind::kClass) {
        std::vector<int64_t> classes(static_cast<size_t>(partition.n));
        GatherClasses(dataset.desc(), partition, order.data(), partition.n, classes.data());
      } else if (partition.n * dataset.desc().y_elements() < 1 << 20) {
        std::vector<float> values(static_cast<size_t>(partition.n * dataset.desc().y_elements()));
        GatherValues(dataset.desc(), partition, order.data(), partition.n, values.data());
      }
    }
    dataset.CheckComplete();
  });
  return 0;
}
