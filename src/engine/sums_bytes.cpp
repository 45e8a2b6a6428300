#include "engine/sums_bytes.h"

#include <cstdint>

#include "base/error.h"

namespace hopper {

void PutSums(const MetricSums& sums, ByteWriter* out) {
  out->Put<double>(sums.loss);
  out->Put<int64_t>(sums.examples);
  out->Put<uint32_t>(static_cast<uint32_t>(sums.metrics.size()));
  for (const double value : sums.metrics) out->Put<double>(value);
}

MetricSums GetSums(ByteReader* in) {
  MetricSums sums;
  sums.loss = in->Get<double>();
  sums.examples = in->Get<int64_t>();
  const auto n = in->Get<uint32_t>();
  if (n > in->remaining() / sizeof(double)) {
    throw Error(ErrorCode::kCorrupt, "the sums of metrics are damaged");
  }
  for (uint32_t i = 0; i < n; ++i) sums.metrics.push_back(in->Get<double>());
  return sums;
}

}  // namespace hopper
