// Positives and negatives between evenly spaced thresholds.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// keras.metrics.AUC, and with kZeroApart the metrics of one at a bound of the other. Sums: the
// positives of each bucket, then the negatives. What is above no threshold is in a bucket of its
// own behind the others: NaN, and 0 where the first threshold is 0 itself.
template <bool kZeroApart>
struct BucketSums {
  static int64_t SumCount(const MetricParams& metric, int64_t /*width*/) {
    return 2 * (static_cast<int64_t>(metric.num_thresholds) + 1);
  }

  static void Add(const MetricParams& metric, const CountedRows& rows, double* sums) {
    const int64_t thresholds = metric.num_thresholds;
    const int64_t of_zero = kZeroApart ? thresholds : 0;
    const Columns columns(metric, rows.width);
    for (int64_t i = 0; i < rows.rows; ++i) {
      for (int64_t j = columns.first; j < columns.last; ++j) {
        const float p = std::clamp(rows.outputs[i * rows.width + j], 0.0F, 1.0F);
        const float at = std::ceil(p * static_cast<float>(thresholds - 1)) - 1.0F;
        const int64_t bucket = at >= 0.0F       ? static_cast<int64_t>(at)
                               : std::isnan(at) ? thresholds
                                                : of_zero;
        const bool wanted = rows.labels[i * rows.width + j] != 0.0F;
        sums[(wanted ? 0 : thresholds + 1) + bucket] += 1.0;
      }
    }
  }

  template <typename Call>
  static auto Lanes(const Call& c) {
    const int64_t thresholds = c.metric.num_thresholds;
    const auto p = clamp(c.OfClass(c.outputs).flatten(1), 0.0, 1.0);
    const auto place = sub(ceil(mul(p, static_cast<double>(thresholds - 1))), 1.0);
    const auto apart = c.Number(static_cast<double>(thresholds), place);
    // -1 is 0's; no number is below it, and NaN is no number.
    const auto bucket =
        c.Longs(where(ge(place, kZeroApart ? 0.0 : -1.0), clamp(place, 0.0), apart));
    const auto wanted = ne(c.OfClass(c.labels).flatten(1), 0.0);
    return c.Histogram(where(wanted, bucket, add(bucket, thresholds + 1)),
                       SumCount(c.metric, c.width()));
  }
};

}  // namespace metric_rows
}  // namespace hopper
