// Counts of what is right and wrong, precision and recall.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// Counts of outputs above the threshold against labels that are not 0.
struct ConfusionSums {
  static int64_t SumCount(const MetricParams& /*metric*/, int64_t /*width*/) { return 4; }
  static bool Halves(const MetricParams& metric, int64_t /*width*/) { return !metric.top_k; }

  // True for the k largest of a row, the first of equal ones; NaN is above all numbers.
  static void MarkLargest(const float* row, int64_t width, int64_t k, std::vector<char>* marks) {
    std::vector<int64_t> order(static_cast<size_t>(width));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [row](int64_t a, int64_t b) {
      const bool number = row[b] == row[b];
      return row[a] > row[b] || (row[a] != row[a] && number);
    });
    marks->assign(static_cast<size_t>(width), 0);
    for (int64_t i = 0; i < std::min(k, width); ++i) (*marks)[static_cast<size_t>(order[i])] = 1;
  }

  static void Add(const MetricParams& metric, const CountedRows& rows, double* sums) {
    const float threshold = static_cast<float>(metric.threshold.value_or(0.5));
    const bool any_value = metric.top_k && !metric.threshold;
    const Columns columns(metric, rows.width);
    std::vector<char> largest(static_cast<size_t>(rows.width), 1);
    for (int64_t i = 0; i < rows.rows; ++i) {
      const float* p = rows.outputs + i * rows.width;
      if (metric.top_k) MarkLargest(p, rows.width, *metric.top_k, &largest);
      for (int64_t j = columns.first; j < columns.last; ++j) {
        const bool wanted = rows.labels[i * rows.width + j] != 0.0F;
        // What is NaN is above nothing.
        const bool above = any_value ? p[j] == p[j] : p[j] > threshold;
        const bool predicted = largest[static_cast<size_t>(j)] && above;
        sums[kTp] += wanted && predicted;
        sums[kFp] += !wanted && predicted;
        sums[kFn] += wanted && !predicted;
        sums[kTn] += !wanted && !predicted;
      }
    }
  }

  template <typename Call>
  static auto Lanes(const Call& c) {
    const auto threshold = static_cast<float>(c.metric.threshold.value_or(0.5));
    auto predicted = gt(c.outputs, threshold);
    if (c.metric.top_k) {
      predicted = c.Largest(*c.metric.top_k)
                      .logical_and(c.metric.threshold ? predicted : eq(c.outputs, c.outputs));
    }
    predicted = c.OfClass(predicted);
    const auto wanted = ne(c.OfClass(c.labels), 0.0);
    const auto unwanted = wanted.logical_not(), rejected = predicted.logical_not();
    return c.Stack(
        {c.Count(wanted.logical_and(predicted)), c.Count(unwanted.logical_and(predicted)),
         c.Count(wanted.logical_and(rejected)), c.Count(unwanted.logical_and(rejected))},
        1);
  }
};

// Keras leaves it to the user what is wanted of counts: they have no direction.
template <int64_t kAt>
MetricType ConfusionCount(const char* name) {
  MetricType type;
  type.names = {name};
  type.halves = ConfusionSums::Halves;
  type.value = [](const MetricParams& /*metric*/, const double* sums, const SummedOver& /*of*/) {
    return sums[kAt];
  };
  type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
    arguments->AddThreshold("thresholds", &metric->threshold);
  };
  return type;
}
struct TruePositives : ConfusionSums {
  static MetricType Type() { return ConfusionCount<kTp>("true_positives"); }
};

struct TrueNegatives : ConfusionSums {
  static MetricType Type() { return ConfusionCount<kTn>("true_negatives"); }
};

struct FalsePositives : ConfusionSums {
  static MetricType Type() { return ConfusionCount<kFp>("false_positives"); }
};

struct FalseNegatives : ConfusionSums {
  static MetricType Type() { return ConfusionCount<kFn>("false_negatives"); }
};

// The share of true positives among these and the counts at kOther.
template <int64_t kOther>
MetricType ShareOfPositives(const char* name) {
  MetricType type;
  type.names = {name};
  type.direction = Direction::kUp;
  type.halves = ConfusionSums::Halves;
  type.value = [](const MetricParams& /*metric*/, const double* sums, const SummedOver& /*of*/) {
    return Divide(sums[kTp], sums[kTp] + sums[kOther]);
  };
  type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
    arguments->AddThreshold("thresholds", &metric->threshold);
    arguments->AddInteger("top_k", 1, &metric->top_k);
    arguments->AddInteger("class_id", 0, &metric->class_id);
  };
  return type;
}
struct Precision : ConfusionSums {
  static MetricType Type() { return ShareOfPositives<kFp>("precision"); }
};

struct Recall : ConfusionSums {
  static MetricType Type() { return ShareOfPositives<kFn>("recall"); }
};

}  // namespace metric_rows
}  // namespace hopper
