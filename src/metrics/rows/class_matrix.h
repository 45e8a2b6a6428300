// Examples (positions) by label and most likely class.
#pragma once

#include "metrics/largest.h"
#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// A single output stands for two classes.
inline int64_t ClassCount(int64_t width) { return width == 1 ? 2 : width; }

// Counts, a row a label. Labels are one-hot rows or, for a single output, 0 and 1.
struct ClassMatrixSums {
  static int64_t SumCount(const MetricParams& /*metric*/, int64_t width) {
    return ClassCount(width) * ClassCount(width);
  }

  // The predicted class of a row of outputs, or of a single one; the first of equal ones.
  static int64_t ClassOf(const float* row, int64_t width, float threshold = 0.5F) {
    if (width == 1) return row[0] > threshold ? 1 : 0;
    return LargestPlace(row, width);
  }

  static void Add(const MetricParams& metric, const CountedRows& rows, double* sums) {
    const auto threshold = static_cast<float>(metric.threshold.value_or(0.5));
    const int64_t classes = ClassCount(rows.width);
    for (int64_t i = 0; i < rows.rows; ++i) {
      const int64_t wanted = ClassOf(rows.labels + i * rows.width, rows.width);
      const int64_t found = ClassOf(rows.outputs + i * rows.width, rows.width, threshold);
      sums[wanted * classes + found] += 1.0;
    }
  }

  template <typename Call>
  static auto Lanes(const Call& c) {
    const auto classes_of = [&c](const auto& rows, double threshold) {
      return rows.size(2) == 1 ? c.Longs(gt(rows.squeeze(2), threshold)) : argmax(rows, 2);
    };
    const auto wanted = classes_of(c.labels, 0.5);
    const auto found = classes_of(c.outputs, c.metric.threshold.value_or(0.5));
    return c.Histogram(add(mul(wanted, ClassCount(c.width())), found),
                       SumCount(c.metric, c.width()));
  }
};

// For evaluate(), which wants the sums themselves.
struct ClassCounts : ClassMatrixSums {
  static MetricType Type() {
    MetricType type;
    type.value = [](const MetricParams& /*metric*/, const double* /*sums*/,
                    const SummedOver& /*of*/) { return 0.0; };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
